import { NoAnswerError } from './errors.js';
/** A refusal of OAuth. `error` is a code of RFC 6749, such as `invalid_grant` or `access_denied`. */
export class OAuthError extends Error {
    name = 'OAuthError';
    error;
    constructor(error, description) {
        super(description === '' ? error : `${error}: ${description}`);
        this.error = error;
    }
}
const TIMEOUT_MS = 60_000;
const VERIFIER_BYTES = 32;
/** Returns the steps by which an application gets tokens for the stores of merchants who agree (RFC 6749, with PKCE). */
export function createOAuth({ url, publicKey, privateKey, redirectUri, fetch = globalThis.fetch }) {
    const base = url.replace(/\/+$/, '');
    async function post(path, form) {
        const answer = await fetch(`${base}${path}`, {
            method: 'POST',
            body: new URLSearchParams({ ...form, client_id: publicKey, client_secret: privateKey }),
            redirect: 'error',
            signal: AbortSignal.timeout(TIMEOUT_MS),
        }).catch((error) => {
            throw new NoAnswerError('POST', `${base}${path}`, error);
        });
        const text = await answer.text();
        if (answer.ok)
            return text;
        const { error, error_description: description } = objectIn(text);
        throw new OAuthError(String(error ?? `status ${answer.status}`), String(description ?? ''));
    }
    async function tokens(form) {
        const { access_token, expires_in, refresh_token, store_url } = objectIn(await post('/oauth/token', form));
        if (typeof access_token !== 'string')
            throw new OAuthError('invalid_answer', 'there is no access token in it');
        return {
            accessToken: access_token,
            expiresAt: typeof expires_in === 'number' ? new Date(Date.now() + expires_in * 1_000) : null,
            refreshToken: typeof refresh_token === 'string' ? refresh_token : null,
            storeUrl: typeof store_url === 'string' ? store_url : null,
        };
    }
    return {
        /** Begins: keep what it returns with the merchant's session, and send the browser to `url`. */
        async authorize({ storeUrl } = {}) {
            const [state, codeVerifier] = [randomText(), randomText()];
            const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
            const query = new URLSearchParams({
                response_type: 'code',
                client_id: publicKey,
                redirect_uri: redirectUri,
                state,
                code_challenge: base64url(new Uint8Array(digest)),
                code_challenge_method: 'S256',
                ...(storeUrl !== undefined && { store_url: storeUrl }),
            });
            return { url: `${base}/oauth/authorize?${query}`, state, codeVerifier };
        },
        /**
         * Ends it: exchanges the code in the address to which the browser came back. Throws `OAuthError` when the merchant denied, and for
         * an address that is not the answer to this authorization.
         */
        async exchange(cameBackTo, authorization) {
            const query = new URL(cameBackTo, redirectUri).searchParams;
            if (query.get('state') !== authorization.state)
                throw new OAuthError('invalid_state', 'it is not of this session');
            const issuer = query.get('iss');
            if (issuer !== null && issuer !== base)
                throw new OAuthError('invalid_issuer', `it is from ${issuer}`);
            const error = query.get('error');
            if (error !== null)
                throw new OAuthError(error, query.get('error_description') ?? '');
            const code = query.get('code') ?? '';
            const { codeVerifier } = authorization;
            const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: codeVerifier };
            return tokens(grant);
        },
        /** The next tokens, for an application whose access tokens end. Keep the new refresh token: the former one works once. */
        refresh(refreshToken) {
            return tokens({ grant_type: 'refresh_token', refresh_token: refreshToken });
        },
        /** Ends a token. One that is unknown has ended already. */
        async revoke(token) {
            await post('/oauth/revoke', { token });
        },
    };
}
function randomText() {
    return base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));
}
function base64url(bytes) {
    return btoa(String.fromCharCode(...bytes))
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replaceAll('=', '');
}
/** A proxy may have answered something else. */
function objectIn(text) {
    try {
        const parsed = JSON.parse(text);
        return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
    }
    catch {
        return {};
    }
}
