import { createSender, type RetryOptions, refusalOf } from './send.ts'

export type AccountOptions = RetryOptions & {
  /** The address of the server, such as `https://api.shop.example`. */
  readonly url: string
  /** Made on the account page, `spt_…`. */
  readonly token: string
}

/**
 * Returns a function that calls the JSON routes of a person's area, such as `/developers/test-stores`, by a token of theirs. It answers what
 * came as JSON (null: nothing), and throws `StoreError` and `NoAnswerError`. Reads are repeated, as those of a store are.
 */
export function createAccount(options: AccountOptions) {
  const base = options.url.replace(/\/+$/, '')
  const send = createSender(options)
  return async <T>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: `/${string}`, body?: unknown): Promise<T> => {
    const headers = {
      Accept: 'application/json',
      Authorization: `Bearer ${options.token}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    }
    const answer = await send({
      method,
      url: base + path,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw await refusalOf(answer)
    const text = await answer.text()
    return (text === '' ? null : JSON.parse(text)) as T
  }
}
