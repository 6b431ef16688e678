#include "proto/status.h"

#include <assert.h>

enum { EXIT_BAD_INPUT = 1, EXIT_USAGE = 2, EXIT_DEVICE = 3 };

static const struct status_info table[] = {
    [STATUS_OK] = {"Ok", "No problem", 200, 0},

    [STATUS_BAD_REQUEST] = {"BadRequest", "The request is malformed", 400, EXIT_USAGE},
    [STATUS_UNKNOWN_PARAMETER] = {"UnknownParameter", "Unknown parameter", 400, EXIT_USAGE},
    [STATUS_BAD_PARAMETER] = {"BadParameter", "Invalid parameter value", 400, EXIT_USAGE},
    [STATUS_UNAUTHORIZED] = {"Unauthorized", "A valid key is required", 401, EXIT_USAGE},
    [STATUS_FORBIDDEN] = {"Forbidden", "The key does not permit this request", 403, EXIT_USAGE},
    [STATUS_CROSS_ORIGIN] = {"CrossOrigin", "The request comes from a page of another origin", 403,
                             EXIT_USAGE},
    [STATUS_WRONG_HOST] = {"WrongHost", "The Host header does not name this service", 421,
                           EXIT_USAGE},
    [STATUS_NO_SUCH_ROUTE] = {"NoSuchRoute", "There is no such route", 404, EXIT_USAGE},
    [STATUS_NO_SUCH_GRAPH] = {"NoSuchGraph", "No such graph", 404, EXIT_USAGE},
    [STATUS_NO_SUCH_JOB] = {"NoSuchJob", "No such job", 404, EXIT_USAGE},
    [STATUS_NO_SUCH_VERTEX] = {"NoSuchVertex", "No such vertex", 404, EXIT_USAGE},
    [STATUS_METHOD_NOT_ALLOWED] = {"MethodNotAllowed", "Method not allowed", 405, EXIT_USAGE},
    [STATUS_NOT_ACCEPTABLE] = {"NotAcceptable", "No acceptable representation", 406, EXIT_USAGE},
    [STATUS_PRECONDITION_FAILED] = {"PreconditionFailed", "A precondition of the request failed",
                                    412, EXIT_USAGE},
    [STATUS_LENGTH_REQUIRED] = {"LengthRequired", "Missing Content-Length", 411, EXIT_USAGE},
    [STATUS_HEAD_TOO_LARGE] = {"HeadTooLarge", "The request headers are too large", 431,
                               EXIT_USAGE},
    [STATUS_UNSUPPORTED_MEDIA_TYPE] = {"UnsupportedMediaType", "Unsupported format", 415,
                                       EXIT_USAGE},
    [STATUS_RANGE_NOT_SATISFIABLE] = {"RangeNotSatisfiable", "The range is outside the content",
                                      416, EXIT_USAGE},

    [STATUS_NOT_SOLVED] = {"NotSolved", "The graph has not been solved yet", 409, EXIT_BAD_INPUT},
    [STATUS_NOT_A_MATRIX] = {"NotAMatrix", "The result is a hierarchy", 409, EXIT_BAD_INPUT},
    [STATUS_NO_COORDINATES] = {"NoCoordinates", "The graph has no coordinates", 409,
                               EXIT_BAD_INPUT},
    [STATUS_JOB_FINISHED] = {"JobFinished", "The job has already ended", 409, EXIT_BAD_INPUT},
    [STATUS_GRAPH_IN_USE] = {"GraphInUse", "The graph is in use", 409, EXIT_BAD_INPUT},
    [STATUS_IDEMPOTENCY_MISMATCH] = {"IdempotencyMismatch",
                                     "The idempotency key was used with another request", 422,
                                     EXIT_BAD_INPUT},
    [STATUS_TOO_LARGE] = {"TooLarge", "The graph is too large", 413, EXIT_BAD_INPUT},
    [STATUS_BODY_TOO_LARGE] = {"BodyTooLarge", "The body is too large", 413, EXIT_BAD_INPUT},

    [STATUS_BAD_GRAPH] = {"BadGraph", "The graph cannot be read", 422, EXIT_BAD_INPUT},
    [STATUS_EMPTY_BODY] = {"EmptyBody", "The body is empty", 422, EXIT_BAD_INPUT},
    [STATUS_TRUNCATED] = {"Truncated", "The input ends too early", 422, EXIT_BAD_INPUT},
    [STATUS_WEIGHT_RANGE] = {"WeightRange", "The weights exceed the range of the kind", 422,
                             EXIT_BAD_INPUT},
    [STATUS_NEGATIVE_CYCLE] = {"NegativeCycle", "The graph has a negative cycle", 422,
                               EXIT_BAD_INPUT},
    [STATUS_BAD_COORDINATES] = {"BadCoordinates", "The coordinates cannot be read", 422,
                                EXIT_BAD_INPUT},

    [STATUS_QUEUE_FULL] = {"QueueFull", "The queue is full", 429, EXIT_BAD_INPUT},
    [STATUS_JOB_QUOTA] = {"JobQuota", "The quota of waiting jobs is used up", 429, EXIT_BAD_INPUT},
    [STATUS_STORAGE_QUOTA] = {"StorageQuota", "The storage quota is exhausted", 507,
                              EXIT_BAD_INPUT},
    [STATUS_TOO_MANY_WATCHERS] = {"TooManyWatchers", "Too many event streams are open", 429,
                                  EXIT_BAD_INPUT},
    [STATUS_UPLOAD_MEMORY] = {"TooManyUploads", "Too many uploads at once", 429, EXIT_BAD_INPUT},
    [STATUS_ADDRESS_LIMIT] = {"AddressLimit", "Too many connections from this address", 429,
                              EXIT_BAD_INPUT},
    [STATUS_WRONG_KEYS] = {"WrongKeys", "Too many wrong keys from this address", 429,
                           EXIT_BAD_INPUT},
    [STATUS_CONNECTION_LIMIT] = {"ConnectionLimit", "Too many connections", 503, EXIT_BAD_INPUT},
    [STATUS_DRAINING] = {"Draining", "The service is shutting down", 503, EXIT_BAD_INPUT},
    [STATUS_NOT_READY] = {"NotReady", "The service is not ready", 503, EXIT_BAD_INPUT},
    [STATUS_CANCELLED] = {"Cancelled", "The job was cancelled", 409, EXIT_BAD_INPUT},
    [STATUS_DEADLINE_EXCEEDED] = {"DeadlineExceeded", "The deadline has passed", 504,
                                  EXIT_BAD_INPUT},

    [STATUS_NO_MEMORY] = {"NoMemory", "Not enough memory", 503, EXIT_DEVICE},
    [STATUS_NO_DEVICE_MEMORY] = {"NoDeviceMemory", "Not enough device memory", 503, EXIT_DEVICE},
    [STATUS_NO_DEVICE] = {"NoDevice", "No usable device", 503, EXIT_DEVICE},
    [STATUS_DISK_FULL] = {"DiskFull", "The disk is full", 507, EXIT_BAD_INPUT},
    [STATUS_IO] = {"InputOutput", "Reading or writing failed", 500, EXIT_BAD_INPUT},
    [STATUS_CORRUPT] = {"Corrupt", "Stored data is damaged", 500, EXIT_BAD_INPUT},
    [STATUS_NOT_VERIFIED] = {"NotVerified", "The result failed verification", 500, EXIT_DEVICE},
    [STATUS_DEVICE_LOST] = {"DeviceLost", "The device failed", 503, EXIT_DEVICE},
    [STATUS_POISON_JOB] = {"PoisonJob", "Every solver that ran the job failed", 500, EXIT_DEVICE},
    [STATUS_CONFIG] = {"Configuration", "The configuration is invalid", 500, EXIT_USAGE},
};

static_assert(sizeof(table) / sizeof(table[0]) == STATUS_COUNT, "a row for every status");

const struct status_info *status_info(enum status status)
{
    CHECK((unsigned)status < STATUS_COUNT);
    return &table[status];
}
