/** RFC 6749 4.1.2.1 and 5.2, RFC 7009 2.2.1. */
export type OAuthError =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_request'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_token_type'

/** A refusal in OAuth's own form. The description is for the client's developer: ASCII without `"` and `\`. */
export class OAuthRefusal extends Error {
  readonly error: OAuthError
  readonly status: number
  /** With 429 and 503: whole seconds until it is worth another try. */
  readonly retryAfterSeconds: number | undefined

  constructor(error: OAuthError, description: string, options: { status?: number; retryAfterSeconds?: number } = {}) {
    super(description)
    this.name = 'OAuthRefusal'
    this.error = error
    this.status = options.status ?? 400
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
