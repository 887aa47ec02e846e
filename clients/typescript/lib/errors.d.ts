import type { components } from '../lib/schema.d.ts';
export type ResultItem = components['schemas']['ResponseInfo'];
/** Why something was refused (`/docs/errors`). Later servers may add codes: treat an unknown one as `invalid-value`. */
export type ErrorCode = components['schemas']['ErrorCode'];
/** No answer came. `cause`: what the platform says of the connection, such as `ECONNREFUSED`, where it does. */
export declare class NoAnswerError extends Error {
    readonly name = "NoAnswerError";
    /** The message has no query and no credentials, and nothing else that `fetch` may repeat of the request. */
    constructor(method: string, url: string, error: unknown);
}
/** A refusal of the server. `items` say what is wrong, of each record that was refused. */
export declare class StoreError extends Error {
    readonly name = "StoreError";
    readonly status: number;
    /** That of the first item. Null: something before the server refused, such as a proxy. */
    readonly code: ErrorCode | null;
    readonly items: readonly ResultItem[];
    /** By which the server's log names the request. */
    readonly requestId: string;
    /** How long to wait, where the server says so. */
    readonly retryAfterMs: number | null;
    constructor({ status, code, requestId, retryAfterMs }: Pick<StoreError, 'status' | 'code' | 'requestId' | 'retryAfterMs'>, items: readonly ResultItem[]);
}
