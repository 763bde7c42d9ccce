/**
 * How long a FIFO queue remembers what it was sent: five minutes on Amazon SQS, and the default of OnceMQ. Wherever the
 * toolkit has to know, it is a setting with this default.
 */

export const windowMsDefault = 300_000;
