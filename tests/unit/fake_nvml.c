/* The driver's library with two devices, the second of which tells little. FAKE_NVML_GATE names a
 * descriptor: counting the devices then waits for a byte from it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_SUPPORTED 3

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetName(const void *device, char *name, unsigned size);
int nvmlDeviceGetUUID(const void *device, char *uuid, unsigned size);
int nvmlDeviceGetMemoryInfo(const void *device, unsigned long long memory[3]);
int nvmlDeviceGetUtilizationRates(const void *device, unsigned utilization[2]);
int nvmlDeviceGetTemperature(const void *device, unsigned sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(const void *device, unsigned *milliwatts);
int nvmlDeviceGetTotalEnergyConsumption(const void *device, unsigned long long *millijoules);

static const char devices[2];

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    const char *gate = getenv("FAKE_NVML_GATE");
    char byte;
    *count = 2;
    return gate != NULL && read((int)strtol(gate, NULL, 10), &byte, 1) != 1;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    memcpy(device, &(const char *){&devices[index]}, sizeof *device);
    return 0;
}

int nvmlDeviceGetName(const void *device, char *name, unsigned size)
{
    static const char words[] = "NVIDIA \"Fake\"";
    memcpy(name, words, size < sizeof words ? size : sizeof words);
    return device == devices ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetUUID(const void *device, char *uuid, unsigned size)
{
    memcpy(uuid, device == devices ? "GPU-0" : "GPU-1", size < 6 ? size : 6);
    return 0;
}

int nvmlDeviceGetMemoryInfo(const void *device, unsigned long long memory[3])
{
    (void)device;
    memory[0] = 150ULL << 30;
    memory[1] = 100ULL << 30;
    memory[2] = 50ULL << 30;
    return 0;
}

int nvmlDeviceGetUtilizationRates(const void *device, unsigned utilization[2])
{
    utilization[0] = 75;
    utilization[1] = 10;
    return device == devices ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetTemperature(const void *device, unsigned sensor, unsigned *celsius)
{
    (void)device;
    *celsius = 61;
    return sensor == 0 ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetPowerUsage(const void *device, unsigned *milliwatts)
{
    *milliwatts = 412500;
    return device == devices ? 0 : NOT_SUPPORTED;
}

int nvmlDeviceGetTotalEnergyConsumption(const void *device, unsigned long long *millijoules)
{
    *millijoules = 9000500;
    return device == devices ? 0 : NOT_SUPPORTED;
}
