#include "server/solver/nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The library's own types, of its API reference: every call returns 0 on success. */
typedef void *nvml_device;

struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct nvml_utilization {
    unsigned gpu; /* percent */
    unsigned memory;
};

#define SENSOR_GPU 0

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, nvml_device *device);
    int (*name)(nvml_device device, char *name, unsigned size);
    int (*uuid)(nvml_device device, char *uuid, unsigned size);
    int (*memory)(nvml_device device, struct nvml_memory *memory);
    int (*utilization)(nvml_device device, struct nvml_utilization *utilization);
    int (*temperature)(nvml_device device, unsigned sensor, unsigned *celsius);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
};

static const struct {
    const char *symbol;
    size_t offset;
} symbols[] = {
    {"nvmlInit_v2", offsetof(struct nvml, init)},
    {"nvmlShutdown", offsetof(struct nvml, shutdown)},
    {"nvmlDeviceGetCount_v2", offsetof(struct nvml, count)},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct nvml, handle)},
    {"nvmlDeviceGetName", offsetof(struct nvml, name)},
    {"nvmlDeviceGetUUID", offsetof(struct nvml, uuid)},
    {"nvmlDeviceGetMemoryInfo", offsetof(struct nvml, memory)},
    {"nvmlDeviceGetUtilizationRates", offsetof(struct nvml, utilization)},
    {"nvmlDeviceGetTemperature", offsetof(struct nvml, temperature)},
    {"nvmlDeviceGetPowerUsage", offsetof(struct nvml, power)},
    {"nvmlDeviceGetTotalEnergyConsumption", offsetof(struct nvml, energy)},
};

static bool find_symbols(struct nvml *nvml)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = dlsym(nvml->library, symbols[i].symbol);
        if (found == NULL) {
            return false;
        }
        memcpy((char *)nvml + symbols[i].offset, &found, sizeof found);
    }
    return true;
}

enum status nvml_open(const char *library, struct nvml **ret_nvml)
{
    struct nvml *nvml = calloc(1, sizeof *nvml);
    if (nvml == NULL) {
        return STATUS_NO_MEMORY;
    }
    nvml->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (nvml->library == NULL || !find_symbols(nvml) || nvml->init() != 0) {
        nvml->shutdown = NULL;
        nvml_close(nvml);
        return STATUS_NO_DEVICE;
    }
    *ret_nvml = nvml;
    return STATUS_OK;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml == NULL) {
        return;
    }
    if (nvml->shutdown != NULL) {
        (void)nvml->shutdown();
    }
    if (nvml->library != NULL) {
        dlclose(nvml->library);
    }
    free(nvml);
}

static void read_words(const struct nvml *nvml, nvml_device device, struct nvml_reading *reading)
{
    if (nvml->name(device, reading->name, sizeof reading->name) != 0) {
        reading->name[0] = '\0';
    }
    if (nvml->uuid(device, reading->uuid, sizeof reading->uuid) != 0) {
        reading->uuid[0] = '\0';
    }
}

static void read_figures(const struct nvml *nvml, nvml_device device, struct nvml_reading *reading)
{
    struct nvml_memory memory;
    struct nvml_utilization utilization;
    unsigned long long millijoules;
    unsigned value;

    const bool has_memory = nvml->memory(device, &memory) == 0;
    reading->memory_bytes = has_memory ? (double)memory.total : -1;
    reading->memory_used_bytes = has_memory ? (double)memory.used : -1;
    reading->utilization =
        nvml->utilization(device, &utilization) == 0 ? utilization.gpu / 100.0 : -1;
    reading->temperature_c =
        nvml->temperature(device, SENSOR_GPU, &value) == 0 ? (double)value : -1;
    reading->power_w = nvml->power(device, &value) == 0 ? value / 1e3 : -1;
    reading->energy_j = nvml->energy(device, &millijoules) == 0 ? (double)millijoules / 1e3 : -1;
}

uint32_t nvml_read(const struct nvml *nvml, struct nvml_reading *ret_readings, uint32_t limit)
{
    unsigned count = 0;
    uint32_t read = 0;
    if (nvml->count(&count) != 0) {
        return 0;
    }
    for (unsigned i = 0; i < count && read < limit; i++) {
        nvml_device device;
        if (nvml->handle(i, &device) == 0) {
            read_words(nvml, device, &ret_readings[read]);
            read_figures(nvml, device, &ret_readings[read]);
            read++;
        }
    }
    return read;
}
