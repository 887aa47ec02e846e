/**
 * The advisory lock of who numbers committed events and hands them to webhooks: one at a time in all processes. To be taken
 * in a statement of its own, so that the next one sees what the last holder committed.
 */
export const numberingLock = 7_301_405
