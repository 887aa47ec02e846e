import { StoreError } from './errors.ts';
/** How requests are repeated. */
export interface RetryOptions {
    /** The most repetitions of a request. 4 if omitted. */
    readonly retries?: number;
    /** The longest wait before a repetition; a longer `Retry-After` ends the request. A minute if omitted. */
    readonly waitMaxMs?: number;
    /** The time limit of each attempt. A minute if omitted. */
    readonly timeoutMs?: number;
    /** Instead of the global one. */
    readonly fetch?: typeof globalThis.fetch;
}
export interface Sent {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly signal?: AbortSignal | undefined;
}
/**
 * Returns a function that sends requests and repeats those that fail for a while: by `Retry-After` where an answer has it, else after
 * growing waits. It waits before a request when the last answer's `RateLimit` says that the bucket is empty. Repeats only what changes
 * nothing twice: reads, and changes with an Idempotency-Key.
 */
export declare function createSender(options: RetryOptions): (request: Sent) => Promise<Response>;
/** The refusal that an answer is. */
export declare function refusalOf(answer: Response): Promise<StoreError>;
