import { StoreFailure } from '../../../foundation/values/failure.ts'
import { type Form, textIn } from '../../html/request.ts'
import { digest } from '../../server/requests/compression.ts'

/**
 * Refuses (412) a form whose record has changed since the form was shown. `advice` says what the form shows instead.
 */
export function ifUnchanged(form: Form, one: string, advice: string) {
  return (record: string): void => {
    if (digest(record) === textIn(form, 'etag')) return
    const reason = 'Somebody else has changed it, or this form was sent twice'
    throw new StoreFailure('precondition-failed', `This ${one} is not as the form showed it. ${reason}. ${advice}`)
  }
}

/** The same at once; what it returns does so under the lock of the record. */
export function requireUnchanged(
  { typed, text }: { readonly typed: Form; readonly text: string },
  one: string,
  advice: string,
): (record: string) => void {
  const precondition = ifUnchanged(typed, one, advice)
  precondition(text)
  return precondition
}
