/* Compressed blocks that are kept, so that mksquashfs compresses each contents once.
 *
 * Loaded with LD_PRELOAD, in place of the functions of liblzma and liblzo2 that
 * mksquashfs calls for a block. KEPT_BLOCKS is the directory: a file for each block,
 * named by SHA-256, length and codec, and empty where a block doesn't compress. The
 * images are those that mksquashfs makes without it. fleet_corpus.py builds it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <lzma.h>
#include <lzo/lzo1x.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 8193, NAME = 512, ABSENT = -1 };
/* LEAST: a block of metadata has at most 8192 bytes, and another room for its result. */

static void name_of(char *name, const unsigned char *raw, size_t length, const char *codec)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];
	char hex[2 * sizeof digest + 1];

	SHA256(raw, length, digest);
	for (size_t i = 0; i < sizeof digest; i++)
		sprintf(hex + 2 * i, "%02x", digest[i]);
	snprintf(name, NAME, "%s/%s-%zu-%s", getenv("KEPT_BLOCKS"), hex, length, codec);
}

static ssize_t kept(const char *name, void *packed, size_t room)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (file < 0)
		return ABSENT;
	length = read(file, packed, room);
	close(file);
	return length;
}

/* A block that can't be kept is compressed again the next time. */
static void keep(const char *name, const void *packed, size_t length)
{
	char beside[NAME + 32];
	int file;

	snprintf(beside, sizeof beside, "%s.%d", name, gettid());
	file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0)
		return;
	if (write(file, packed, length) == (ssize_t)length && close(file) == 0)
		rename(beside, name);
	else
		unlink(beside);
}

lzma_ret lzma_stream_buffer_encode(lzma_filter *filters, lzma_check check,
	const lzma_allocator *allocator, const uint8_t *raw, size_t length,
	uint8_t *packed, size_t *at, size_t room)
{
	static __typeof__(lzma_stream_buffer_encode) *real;
	char name[NAME];
	ssize_t found;
	lzma_ret status;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "lzma_stream_buffer_encode");
	if (length < LEAST || *at != 0)
		return real(filters, check, allocator, raw, length, packed, at, room);
	name_of(name, raw, length, "xz");
	found = kept(name, packed, room);
	if (found >= 0) {
		*at = found;
		return found ? LZMA_OK : LZMA_BUF_ERROR;
	}
	status = real(filters, check, allocator, raw, length, packed, at, room);
	if (status == LZMA_OK || status == LZMA_BUF_ERROR)
		keep(name, packed, status == LZMA_OK ? *at : 0);
	return status;
}

int lzo1x_999_compress_level(const lzo_bytep raw, lzo_uint length, lzo_bytep packed,
	lzo_uintp at, lzo_voidp work, const lzo_bytep dictionary, lzo_uint known,
	lzo_callback_p callback, int level)
{
	static __typeof__(lzo1x_999_compress_level) *real;
	char name[NAME];
	ssize_t found;
	int status;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "lzo1x_999_compress_level");
	if (length < LEAST)
		return real(raw, length, packed, at, work, dictionary, known, callback, level);
	name_of(name, raw, length, "lzo");
	/* lzo makes a block at most so much longer (LZO.FAQ), and mksquashfs has the room. */
	found = kept(name, packed, length + length / 16 + 64 + 3);
	if (found >= 0) {
		*at = found;
		return LZO_E_OK;
	}
	status = real(raw, length, packed, at, work, dictionary, known, callback, level);
	if (status == LZO_E_OK)
		keep(name, packed, *at);
	return status;
}
