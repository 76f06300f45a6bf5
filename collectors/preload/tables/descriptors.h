/* The table of descriptors. */
#ifndef IOTIDE_DESCRIPTORS_H
#define IOTIDE_DESCRIPTORS_H

#include "base/types.h"

EXPORT struct iotide_target iotide_descriptor_target(int fd); /* also resolves a descriptor whose opening was not traced */
/* A new handle for a descriptor that was just opened; a failed open (fd < 0) still names its file. */
EXPORT struct iotide_target iotide_register_open(int fd, int directory, const char *path);
EXPORT void iotide_register_connect(int fd); /* the name of the descriptor's object has changed */
EXPORT struct iotide_target iotide_register_duplicate(int from, int to);
EXPORT struct iotide_target iotide_unregister_descriptor(int fd); /* before it is closed; returns the previous target */
EXPORT void iotide_unregister_descriptors(unsigned int first, unsigned int last);
EXPORT uint32_t iotide_file_at(int directory, const char *path); /* made absolute; AT_FDCWD: the working directory */
/* Streams have their own handles, by the underlying descriptor; a descriptor first used directly after its stream is
 * the stream's child. */
EXPORT struct iotide_target iotide_stream_target(int fd);
EXPORT struct iotide_target iotide_register_stream_open(int fd, const char *path); /* opened by path: fopen, tmpfile */
EXPORT struct iotide_target iotide_register_stream(int fd); /* on an existing descriptor: fdopen */
EXPORT struct iotide_target iotide_unregister_stream(int fd);

void iotide_reset_descriptors(void);

#endif
