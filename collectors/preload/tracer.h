/* Interface of the tracer for wrappers. Nothing here may change errno, allocate, block or print.
 *
 * The core library (POSIX and STDIO) defines it; the libraries of the higher layers find it in the core, which is
 * preloaded before them. */
#ifndef IOTIDE_TRACER_H
#define IOTIDE_TRACER_H

#include "state/clock.h"
#include "tables/definitions.h"
#include "tables/descriptors.h"
#include "base/symbol_lookup.h"
#include "tables/handle_map.h"
#include "recording/pace.h"
#include "base/user_text.h"
#include "recording/record.h"
#include "state/region.h"
#include "recording/session.h"
#include "state/state.h"
#include "state/filters.h"
#include "base/types.h"

/* How a call is traced (iotide_trace_mode); 0: not at all. */
static inline uint32_t iotide_traced(struct iotide_site *site) {
    uint32_t as = iotide_trace_mode(site);
    if (unlikely(!as || iotide_self.quiet))
        return 0;
    uint8_t state = atomic_load_explicit(&site->state, memory_order_relaxed);
    return likely(state == SITE_ON) || state == SITE_SILENT || (state == SITE_NEW && iotide_filter_site(site)) ? as : 0;
}

/* Determines what a first call would, if the process is traced. */
static inline void iotide_prepare(struct iotide_site *site) {
    if (iotide_process_state && iotide_filter_site(site))
        iotide_real(site);
}

static inline bool iotide_is_silent(struct iotide_site *site) {
    return atomic_load_explicit(&site->state, memory_order_relaxed) == SITE_SILENT;
}

static inline uint32_t iotide_parent_at(uint32_t depth) {
    return likely(depth == 0) ? 0 : iotide_self.enclosing[depth - 1].handle;
}

/* Enters a call that makes no traced calls of its own (libc's). */
static inline struct iotide_span iotide_enter(struct iotide_site *site) {
    uint32_t as = iotide_traced(site);
    if (!as)
        return (struct iotide_span){0};
    if (unlikely(iotide_self.depth != 0))
        iotide_unwind(__builtin_frame_address(0));
    return (struct iotide_span){iotide_now(), 0, iotide_self.depth, as & MODE_PACED};
}

/* Enters a call of a higher layer: nested calls have handle as their parent (0: that of the enclosing call). */
static inline struct iotide_span iotide_push(struct iotide_site *site, uint32_t handle) {
    if (!iotide_traced(site))
        return (struct iotide_span){0};
    const void *frame = __builtin_frame_address(0);
    if (iotide_self.depth != 0)
        iotide_unwind(frame);
    struct iotide_span span = {iotide_now(), 0, iotide_self.depth, 0};
    if (span.depth < IOTIDE_MAX_DEPTH && likely(!iotide_is_silent(site))) {
        iotide_self.enclosing[span.depth].frame = frame;
        iotide_self.enclosing[span.depth].handle = handle ? handle : iotide_parent_at(span.depth);
        iotide_self.depth = span.depth + 1;
    }
    return span;
}

/* Records the end of the real call, to exclude later lookups for the record from its duration. */
static inline void iotide_end_span(struct iotide_span *span) {
    span->end_ns = iotide_now();
}

/* Ends the scope of iotide_push: immediately after the real call, unless the span is untraced (start_ns 0). */
static inline void iotide_pop(struct iotide_span span) {
    iotide_self.depth = span.depth;
}

FREQUENT static inline void iotide_leave(struct iotide_span span, struct iotide_site *site, struct iotide_facts facts,
                                const uint64_t *words, unsigned int count) {
    if (unlikely(!iotide_is_tracing() || iotide_is_silent(site)))
        return;
    int64_t end_ns = span.end_ns ? span.end_ns : iotide_now();
    uint32_t number = iotide_call_number(site);
    struct iotide_record record = {
        .start_ns = span.start_ns,
        .duration_ns = likely(end_ns > span.start_ns) ? end_ns - span.start_ns : 0,
        .offset = facts.offset,
        .requested = facts.requested,
        .bytes = facts.failed ? 0 : facts.bytes,
        .handle = facts.target.handle,
        .parent = facts.parent ? facts.parent : iotide_parent_at(span.depth),
        .file = facts.target.file,
        .descriptor = facts.descriptor,
        .call = (uint16_t)number,
        .flags = (uint16_t)(facts.flags | (facts.failed ? FLAG_FAILED : 0)),
        .words = (uint8_t)count,
        .kind = facts.kind,
        .error = facts.failed ? (uint8_t)(facts.error > 255 || facts.error < 0 ? 255 : facts.error) : 0,
        .depth = (uint8_t)span.depth,
    };
    iotide_write_record(&record, words);
}

#endif
