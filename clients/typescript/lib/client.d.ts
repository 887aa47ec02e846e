import { type RetryOptions } from './send.ts';
import type { AnswerOf, Arguments, ChangeOptions, CountedPath, GetOptions, ListPath, PathOf, RecordOf } from './types.ts';
/** The keys of an application in a store; or an OAuth access token, as it is or by a function that is asked before each request. */
export type Credentials = {
    readonly secureUrl: string;
    readonly privateKey: string;
    readonly token: string;
} | {
    readonly accessToken: string | (() => string | Promise<string>);
};
export type ClientOptions = RetryOptions & Credentials & {
    /** The address of the services, such as `https://api.shop.example/StoreWebAPI/v2`. */
    readonly url: string;
    /** The header Prefer of requests that say no other, such as `handling=strict`. */
    readonly prefer?: string;
};
export interface Answer<T> {
    readonly status: number;
    readonly data: T;
    /** Of a single record: for `ifMatch` and `getIfChanged`. */
    readonly etag: string | null;
    readonly headers: Headers;
}
export type StoreClient = ReturnType<typeof createClient>;
/**
 * Returns a client of one store's REST services. Its functions throw `StoreError` for every refusal, and `NoAnswerError` when no
 * answer comes; both after the repetitions that may help. Changes get an Idempotency-Key each, so that they can be repeated too.
 */
export declare function createClient(options: ClientOptions): {
    /** Reads a record or one page of a list. */
    get<P extends PathOf<'get'>>(path: P, ...[given]: Arguments<GetOptions<P>>): Promise<Answer<AnswerOf<P, "get">>>;
    /** Reads a record unless it still has the ETag; then null. */
    getIfChanged<P extends PathOf<'get'>>(path: P, etag: string, ...[given]: Arguments<GetOptions<P>>): Promise<Answer<AnswerOf<P, "get">> | null>;
    /** Creates records, or does what the address is for. Status 206: some were refused, as the result items say. */
    post<P extends PathOf<'post'>>(path: P, ...[given]: Arguments<ChangeOptions<P, 'post'>>): Promise<Answer<AnswerOf<P, "post">>>;
    /** Changes one record or several. Status 206: some were refused, as the result items say. */
    put<P extends PathOf<'put'>>(path: P, ...[given]: Arguments<ChangeOptions<P, 'put'>>): Promise<Answer<AnswerOf<P, "put">>>;
    delete<P extends PathOf<'delete'>>(path: P, ...[given]: Arguments<ChangeOptions<P, 'delete'>>): Promise<Answer<AnswerOf<P, "delete">>>;
    /** How many records of a list match the filters. */
    count<P extends CountedPath>(path: P, ...[given]: Arguments<GetOptions<P>>): Promise<number>;
    pages: <P extends ListPath>(path: P, ...[given]: Arguments<GetOptions<P>>) => AsyncGenerator<readonly RecordOf<P>[], void, undefined>;
    /** All records of a list, page by page: each that was there from the start comes exactly once. */
    list<P extends ListPath>(path: P, ...given: Arguments<GetOptions<P>>): AsyncGenerator<RecordOf<P>, void, undefined>;
};
