import { NoAnswerError, StoreError } from './errors.js';
const RETRIES = 4;
const MINUTE_MS = 60_000;
const FIRST_WAIT_MS = 500;
/** The part of a wait by which it may be longer, so that clients that were refused together do not come back together. */
const JITTER = 0.25;
/** Refusals that pass by themselves: a request in progress with the same key, a full bucket, a server that is not ready. */
const passing = ['in-progress', 'rate-limited', 'unavailable'];
/** The same of a proxy, which has no codes. */
const passingOfProxies = [429, 502, 503, 504];
/**
 * Returns a function that sends requests and repeats those that fail for a while: by `Retry-After` where an answer has it, else after
 * growing waits. It waits before a request when the last answer's `RateLimit` says that the bucket is empty. Repeats only what changes
 * nothing twice: reads, and changes with an Idempotency-Key.
 */
export function createSender(options) {
    const { retries = RETRIES, waitMaxMs = MINUTE_MS, timeoutMs = MINUTE_MS } = options;
    const fetch = options.fetch ?? globalThis.fetch;
    let bucketFillsAt = 0;
    return async (request) => {
        const isRepeatable = request.method === 'GET' || request.headers['Idempotency-Key'] !== undefined;
        for (let attempt = 0;; attempt++) {
            const waitMs = Math.min(bucketFillsAt - Date.now(), waitMaxMs);
            if (waitMs > 0)
                await sleep(withJitter(waitMs), request.signal);
            const answer = await attemptOnce(request);
            const isLast = !isRepeatable || attempt >= retries;
            if (answer instanceof Response) {
                bucketFillsAt = Math.max(bucketFillsAt, Date.now() + emptyForMs(answer.headers));
                const wait = waitAfter(answer, attempt);
                if (isLast || wait === null || wait > waitMaxMs)
                    return answer;
                await answer.body?.cancel();
                await sleep(withJitter(wait), request.signal);
            }
            else {
                if (request.signal?.aborted === true)
                    throw answer.error;
                if (isLast)
                    throw new NoAnswerError(request.method, request.url, answer.error);
                await sleep(withJitter(growing(attempt)), request.signal);
            }
        }
    };
    async function attemptOnce({ url, signal, ...request }) {
        const timeout = AbortSignal.timeout(timeoutMs);
        const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
        try {
            // A redirect could hand the keys to another server.
            return await fetch(url, { ...request, signal: ends, redirect: 'error' });
        }
        catch (error) {
            return { error };
        }
    }
}
/** Null: the answer is final. */
function waitAfter({ status, headers }, attempt) {
    const code = codeIn(headers);
    const isPassing = code === null ? passingOfProxies.includes(status) : passing.includes(code);
    return isPassing ? (retryAfterMs(headers) ?? growing(attempt)) : null;
}
function codeIn(headers) {
    return headers.get('X-Error-Code');
}
function growing(attempt) {
    return FIRST_WAIT_MS * 2 ** attempt;
}
function withJitter(ms) {
    return ms * (1 + Math.random() * JITTER);
}
/** Seconds or a date (RFC 9110 §10.2.3). */
function retryAfterMs(headers) {
    const given = headers.get('Retry-After')?.trim() ?? '';
    if (/^\d+$/.test(given))
        return Number(given) * 1_000;
    const at = Date.parse(given);
    return Number.isNaN(at) ? null : Math.max(at - Date.now(), 0);
}
/** `RateLimit: "default";r=0;t=2`: nothing remains, for two seconds. */
function emptyForMs(headers) {
    const [, remaining = '1', seconds = '0'] = /;r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? [];
    return remaining === '0' ? Number(seconds) * 1_000 : 0;
}
function sleep(ms, signal) {
    return new Promise((resolve, reject) => {
        const stop = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', stop);
            resolve();
        }, ms);
        if (signal?.aborted === true)
            stop();
        signal?.addEventListener('abort', stop, { once: true });
    });
}
/** The refusal that an answer is. */
export async function refusalOf(answer) {
    const { status, headers } = answer;
    const said = {
        code: codeIn(headers),
        requestId: headers.get('X-Request-Id') ?? '',
        retryAfterMs: retryAfterMs(headers),
    };
    return new StoreError({ status, ...said }, itemsIn(await answer.text()));
}
/** A proxy may have answered something else. */
function itemsIn(text) {
    try {
        const parsed = JSON.parse(text);
        return Array.isArray(parsed) ? parsed : [];
    }
    catch {
        return [];
    }
}
