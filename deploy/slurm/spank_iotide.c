/* SPANK plugin of Slurm that adds `sbatch --iotide`, also for srun and salloc.
 * The option tells the prolog that the job wants a collector. The scripts beside this file do the rest.
 * Built with Slurm's headers (Debian: libslurm-dev):
 *   gcc -Wall -Wextra -Werror -O2 -shared -fPIC -o spank_iotide.so spank_iotide.c */
#include <slurm/spank.h>

SPANK_PLUGIN(iotide, 1);

static int wanted;

static int take_option(int value, const char *argument, int remote) {
    (void)value;
    (void)argument;
    (void)remote;
    wanted = 1;
    return 0;
}

int slurm_spank_init(spank_t spank, int count, char **arguments) {
    static struct spank_option option = {
        .name = "iotide",
        .usage = "monitor the job's I/O with iotide",
        .cb = take_option,
    };
    (void)count;
    (void)arguments;
    spank_context_t context = spank_context();
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
        return 0;
    return spank_option_register(spank, &option) == ESPANK_SUCCESS ? 0 : -1;
}

/* The prolog receives it as SPANK_IOTIDE. If this fails, the job is accepted and runs without a collector. */
int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments) {
    (void)count;
    (void)arguments;
    spank_context_t context = spank_context();
    if (wanted && (context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR) &&
        spank_job_control_setenv(spank, "IOTIDE", "1", 1) != ESPANK_SUCCESS)
        slurm_error("iotide: the prolog could not be told of --iotide");
    return 0;
}
