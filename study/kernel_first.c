/* The first process of an emulated machine: launches are replayed by one or more
 * readers, and what they read of the device is counted. kernel_emulated.py builds it.
 *
 * /touches has a line for each file: its path and its pages, with tabs between.
 * Images: /lzo.squashfs and /xz.squashfs. Writes lines of "RESULT codec read-ahead
 * readers bytes", read-ahead in KiB.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, SECTOR = 512, MOST_FILES = 5000, ONE_OF = 8, USUAL = 128 };

static char *files[MOST_FILES];
static int count;
static volatile char sink;

static void need(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		reboot(RB_POWER_OFF);
	}
}

static void load(const char *module)
{
	int file = open(module, O_RDONLY);

	need(syscall(SYS_finit_module, file, "", 0) == 0, module);
	close(file);
}

static long bytes_read(int device)
{
	char path[64];
	long sectors = 0;
	FILE *file;

	sprintf(path, "/sys/block/loop%d/stat", device);
	file = fopen(path, "r");
	need(file && fscanf(file, "%*d %*d %ld", &sectors) == 1, path);
	fclose(file);
	return sectors * SECTOR;
}

static void touch(const char *line)
{
	char *copy = strdup(line), *rest, path[4096], *page, *mapping;
	off_t size;
	int file;

	snprintf(path, sizeof(path), "/mnt/%s", strtok_r(copy, "\t", &rest));
	file = open(path, O_RDONLY);
	need(file >= 0, path);
	size = lseek(file, 0, SEEK_END);
	mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	while ((page = strtok_r(NULL, "\t", &rest)))
		sink = mapping[(long)PAGE * atol(page)];
	munmap(mapping, size);
	close(file);
	free(copy);
}

static void set_read_ahead(int device, int kib)
{
	char path[64];
	FILE *file;

	sprintf(path, "/sys/block/loop%d/queue/read_ahead_kb", device);
	file = fopen(path, "w");
	need(file && fprintf(file, "%d", kib) > 0 && !fclose(file), path);
}

static void replay(const char *codec, int read_ahead, int readers, int unequal)
{
	int control = open("/dev/loop-control", O_RDWR);
	int device = ioctl(control, LOOP_CTL_GET_FREE), loop, image, go[2];
	char path[64], wait_for;
	long before;

	close(control);
	sprintf(path, "/%s.squashfs", codec);
	image = open(path, O_RDONLY);
	sprintf(path, "/dev/loop%d", device);
	while ((loop = open(path, O_RDONLY)) < 0)
		usleep(10000);
	need(ioctl(loop, LOOP_SET_FD, image) == 0, "loop device");
	set_read_ahead(device, read_ahead);
	need(mount(path, "/mnt", "squashfs", MS_RDONLY, NULL) == 0, "mount");
	before = bytes_read(device);
	need(pipe(go) == 0, "pipe");
	for (int reader = 0; reader < readers; reader++) {
		if (fork())
			continue;
		close(go[1]);
		need(read(go[0], &wait_for, 1) == 0, "go");
		for (int i = 0; i < count; i++)
			if ((unequal ? i % ONE_OF == 0 : i % readers) == reader)
				touch(files[i]);
		_exit(0);
	}
	close(go[0]);
	close(go[1]);
	while (wait(NULL) > 0)
		;
	printf("RESULT %s %d %s%d %ld\n", codec, read_ahead,
	       unequal ? "7/8+1/8 of " : "", readers, bytes_read(device) - before);
	umount("/mnt");
	ioctl(loop, LOOP_CLR_FD, 0);
	close(loop);
	close(image);
}

int main(void)
{
	static const char *const codecs[] = { "lzo", "xz" };
	static const int others[] = { 0, 1024 };
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	FILE *list;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mkdir("/mnt", 0755);
	mount("none", "/sys", "sysfs", 0, NULL);
	mount("none", "/dev", "devtmpfs", 0, NULL);
	dup2(dup2(open("/dev/console", O_RDWR), 1), 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	load("/loop.ko");
	load("/squashfs.ko");
	list = fopen("/touches", "r");
	while (count < MOST_FILES && (length = getline(&line, &room, list)) > 0) {
		line[length - 1] = 0;
		files[count++] = strdup(line);
	}
	for (int i = 0; i < 2; i++) {
		replay(codecs[i], USUAL, 1, 0);
		replay(codecs[i], USUAL, 2, 1);
		replay(codecs[i], USUAL, 2, 0);
		replay(codecs[i], USUAL, 4, 0);
	}
	for (int i = 0; i < 2; i++) {
		replay("lzo", others[i], 1, 0);
		replay("lzo", others[i], 2, 0);
		replay("lzo", others[i], 4, 0);
	}
	reboot(RB_POWER_OFF);
}
