/**
 * How long a FIFO queue remembers what it was sent: five minutes on Amazon SQS, and by default on OnceMQ. Wherever the
 * toolkit depends on it, it is an option with this default.
 */

export const windowMsDefault = 300_000;
