import { type RetryOptions } from './send.ts';
export type AccountOptions = RetryOptions & {
    /** The address of the server, such as `https://api.shop.example`. */
    readonly url: string;
    /** Made on the account page, `spt_…`. */
    readonly token: string;
};
/**
 * Returns a function that calls the JSON routes of a person's area, such as `/developers/test-stores`, by a token of theirs. It answers what
 * came as JSON (null: nothing), and throws `StoreError` and `NoAnswerError`. Reads are repeated, as those of a store are.
 */
export declare function createAccount(options: AccountOptions): <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: `/${string}`, body?: unknown) => Promise<T>;
