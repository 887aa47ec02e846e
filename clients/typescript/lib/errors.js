/** No answer came. `cause`: what the platform says of the connection, such as `ECONNREFUSED`, where it does. */
export class NoAnswerError extends Error {
    name = 'NoAnswerError';
    /** The message has no query and no credentials, and nothing else that `fetch` may repeat of the request. */
    constructor(method, url, error) {
        const { origin, pathname } = new URL(url);
        const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
        const cause = isTimeout ? error : error?.cause;
        const { code, message } = (cause ?? {});
        const reason = typeof code === 'string' ? code : (message ?? 'the connection failed');
        super(`${method} ${origin}${pathname} got no answer: ${reason}`, { cause });
    }
}
/** A refusal of the server. `items` say what is wrong, of each record that was refused. */
export class StoreError extends Error {
    name = 'StoreError';
    status;
    /** That of the first item. Null: something before the server refused, such as a proxy. */
    code;
    items;
    /** By which the server's log names the request. */
    requestId;
    /** How long to wait, where the server says so. */
    retryAfterMs;
    constructor({ status, code, requestId, retryAfterMs }, items) {
        const message = items.map(({ Value, Message }) => (Value === '' ? Message : `${Value}: ${Message}`)).join('; ');
        super(`${status} ${message || 'without a body'} (request ${requestId || 'unknown'})`);
        this.status = status;
        this.code = code;
        this.items = items;
        this.requestId = requestId;
        this.retryAfterMs = retryAfterMs;
    }
}
