/** An application, as it is registered. */
export interface OAuthOptions {
    /** The address of the server, such as `https://api.shop.example`. */
    readonly url: string;
    readonly publicKey: string;
    readonly privateKey: string;
    /** One of the application's redirect addresses, character by character. */
    readonly redirectUri: string;
    /** Instead of the global one. */
    readonly fetch?: typeof globalThis.fetch;
}
export interface Tokens {
    readonly accessToken: string;
    /** When it ends; null: with the subscription. */
    readonly expiresAt: Date | null;
    /** For the next access token, where this one ends. */
    readonly refreshToken: string | null;
    /** The SecureURL of the store that the token is for. Null: an existing application has to know it. */
    readonly storeUrl: string | null;
}
/** What to remember of a merchant who is sent to the server, until they come back. */
export interface Authorization {
    /** Where to send the merchant's browser. */
    readonly url: string;
    readonly state: string;
    readonly codeVerifier: string;
}
/** A refusal of OAuth. `error` is a code of RFC 6749, such as `invalid_grant` or `access_denied`. */
export declare class OAuthError extends Error {
    readonly name = "OAuthError";
    readonly error: string;
    constructor(error: string, description: string);
}
/** Returns the steps by which an application gets tokens for the stores of merchants who agree (RFC 6749, with PKCE). */
export declare function createOAuth({ url, publicKey, privateKey, redirectUri, fetch }: OAuthOptions): {
    /** Begins: keep what it returns with the merchant's session, and send the browser to `url`. */
    authorize({ storeUrl }?: {
        readonly storeUrl?: string;
    }): Promise<Authorization>;
    /**
     * Ends it: exchanges the code in the address to which the browser came back. Throws `OAuthError` when the merchant denied, and for
     * an address that is not the answer to this authorization.
     */
    exchange(cameBackTo: string | URL, authorization: Pick<Authorization, 'state' | 'codeVerifier'>): Promise<Tokens>;
    /** The next tokens, for an application whose access tokens end. Keep the new refresh token: the former one works once. */
    refresh(refreshToken: string): Promise<Tokens>;
    /** Ends a token. One that is unknown has ended already. */
    revoke(token: string): Promise<void>;
};
