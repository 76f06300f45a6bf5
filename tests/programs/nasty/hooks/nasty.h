/* C functions called by expressions of nasty.sig. */
static inline int nasty_sum(const big_t *big) {
    errno = 77; /* must not reach the program */
    return (int)big->b + big->c[0];
}
