import { createSender, refusalOf } from './send.js';
/**
 * Returns a client of one store's REST services. Its functions throw `StoreError` for every refusal, and `NoAnswerError` when no
 * answer comes; both after the repetitions that may help. Changes get an Idempotency-Key each, so that they can be repeated too.
 */
export function createClient(options) {
    const base = options.url.replace(/\/+$/, '');
    const send = createSender(options);
    async function request(method, path, given) {
        const { query = {}, body, ifMatch, ifNoneMatch, signal, prefer = options.prefer } = given;
        const isChange = method !== 'GET';
        const headers = {
            Accept: 'application/json',
            ...(await credentialHeaders(options)),
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...(isChange && { 'Idempotency-Key': given.idempotencyKey ?? crypto.randomUUID() }),
            ...(prefer !== undefined && { Prefer: prefer }),
            ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
            ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
        };
        const url = `${base}${filledIn(path, given.path ?? {})}${queryText(query)}`;
        return send({ method, url, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) });
    }
    async function answered(method, path, given) {
        const answer = await request(method, path, given);
        if (!answer.ok)
            throw await refusalOf(answer);
        return answerOf(answer);
    }
    /** Pages of a list; none where it is empty. */
    async function* pages(path, ...[given]) {
        let next = (given ?? {});
        while (next !== null) {
            const answer = await request('GET', path, next);
            // No match, or the record above is gone: there is nothing to read on. A wrong address has a body.
            if (answer.status === 404 && (await answer.clone().text()) === '')
                return;
            if (!answer.ok)
                throw await refusalOf(answer);
            yield (await answer.json());
            next = nextPage(next, answer.headers);
        }
    }
    return {
        /** Reads a record or one page of a list. */
        get(path, ...[given]) {
            return answered('GET', path, (given ?? {}));
        },
        /** Reads a record unless it still has the ETag; then null. */
        async getIfChanged(path, etag, ...[given]) {
            const answer = await request('GET', path, { ...(given ?? {}), ifNoneMatch: etag });
            if (answer.status === 304)
                return null;
            if (!answer.ok)
                throw await refusalOf(answer);
            return answerOf(answer);
        },
        /** Creates records, or does what the address is for. Status 206: some were refused, as the result items say. */
        post(path, ...[given]) {
            return answered('POST', path, (given ?? {}));
        },
        /** Changes one record or several. Status 206: some were refused, as the result items say. */
        put(path, ...[given]) {
            return answered('PUT', path, (given ?? {}));
        },
        delete(path, ...[given]) {
            return answered('DELETE', path, (given ?? {}));
        },
        /** How many records of a list match the filters. */
        async count(path, ...[given]) {
            const counted = `${path}/Count`;
            const { data } = await answered('GET', counted, (given ?? {}));
            return data.TotalCount;
        },
        pages,
        /** All records of a list, page by page: each that was there from the start comes exactly once. */
        async *list(path, ...given) {
            for await (const page of pages(path, ...given))
                yield* page;
        },
    };
}
async function answerOf(answer) {
    const { status, headers } = answer;
    return { status, headers, etag: headers.get('ETag'), data: (await answer.json()) };
}
async function credentialHeaders(credentials) {
    if ('accessToken' in credentials) {
        const { accessToken } = credentials;
        return { Authorization: `Bearer ${typeof accessToken === 'string' ? accessToken : await accessToken()}` };
    }
    const { secureUrl, privateKey, token } = credentials;
    return { SecureURL: secureUrl, PrivateKey: privateKey, Token: token };
}
/** `/Products/{catalogid}` → `/Products/12` */
function filledIn(path, values) {
    return path.replace(/\{(\w+)\}/g, (_braces, name) => {
        if (values[name] === undefined)
            throw new TypeError(`${path} needs ${name}`);
        return encodeURIComponent(String(values[name]));
    });
}
/** A list is given by repeating its name. */
function queryText(query) {
    const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one === undefined ? '' : String(one)]));
    const text = new URLSearchParams(pairs.filter(([, value]) => value !== '')).toString();
    return text === '' ? '' : `?${text}`;
}
/** Only the cursor of the next address is taken, so that no answer can lead the keys to another server. */
function nextPage(page, headers) {
    const [, address] = /<([^>]+)>;\s*rel="next"/.exec(headers.get('Link') ?? '') ?? [];
    const cursor = address === undefined ? null : new URL(address, 'http://server').searchParams.get('cursor');
    if (cursor === null)
        return null;
    const { offset: _, ...query } = (page.query ?? {});
    return { ...page, query: { ...query, cursor } };
}
