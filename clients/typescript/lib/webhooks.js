/** The message was not signed with the secret, or too long ago. Answer 400, and use nothing of it. */
export class VerificationError extends Error {
    name = 'VerificationError';
}
const TOLERANCE_MS = 5 * 60_000;
/**
 * Verifies a notification of a webhook whose format is JSON, and reads it. `secret` is that of `/Webhooks/{id}/Secret`, or several
 * while one replaces another. Throws `VerificationError`.
 */
export async function verifyNotification(request, secret, options = {}) {
    const { id, timestamp, text } = await verified(request, secret, options);
    const header = (name) => headerOf(request, name) ?? '';
    const [record] = JSON.parse(text);
    const event = header('webhook-event');
    const changed = header('webhook-changed')
        .split(',')
        .filter((name) => name !== '');
    return { id, timestamp, event, sequence: Number(header('webhook-sequence')), changed, record };
}
/** Verifies a callback to an application's CallBackURL by its callback secret, and reads it. Throws `VerificationError`. */
export async function verifyCallback(request, secret, options = {}) {
    return JSON.parse((await verified(request, secret, options)).text);
}
async function verified(request, secret, options) {
    const { toleranceMs = TOLERANCE_MS, now = new Date() } = options;
    const [id, seconds, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
        const value = headerOf(request, name);
        if (value === undefined || value === '')
            throw new VerificationError(`The header ${name} is missing`);
        return value;
    });
    const timestamp = new Date(Number(seconds) * 1_000);
    // Also refuses what is no number.
    if (!(Math.abs(now.getTime() - timestamp.getTime()) <= toleranceMs)) {
        throw new VerificationError('The message is too old, or from the future');
    }
    const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
    const signed = joined(new TextEncoder().encode(`${id}.${seconds}.`), body);
    for (const one of [secret].flat()) {
        const key = await keyOf(one);
        for (const signature of signatures.split(' ').slice(0, SIGNATURES_MAX)) {
            const bytes = signature.startsWith('v1,') ? bytesOf(signature.slice('v1,'.length)) : null;
            // WebCrypto compares in constant time.
            if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
                return { id, timestamp, text: new TextDecoder().decode(body) };
            }
        }
    }
    throw new VerificationError('No signature is of the secret');
}
/** The server sends two at most. */
const SIGNATURES_MAX = 10;
function keyOf(secret) {
    const bytes = bytesOf(secret.replace(/^whsec_/, ''));
    if (bytes === null)
        throw new TypeError('The secret is not whsec_ and base64');
    return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}
function bytesOf(base64) {
    try {
        return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    }
    catch {
        return null;
    }
}
function joined(first, second) {
    const both = new Uint8Array(first.length + second.length);
    both.set(first);
    both.set(second, first.length);
    return both;
}
function headerOf({ headers }, name) {
    if (headers instanceof Headers)
        return headers.get(name) ?? undefined;
    const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
    return typeof value === 'object' ? value[0] : value;
}
