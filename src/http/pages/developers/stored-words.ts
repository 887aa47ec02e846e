import { type Phrase, type Text, type TextValue, t } from '../../../foundation/texts/text.ts'

// Sentences that the database has in English, for programs too, as texts of the pages.

/** What was made to happen in a test store (src/operations/sandbox/trade.ts). */
const happenings = [
  t('Order {number} of {money} was placed'),
  t('Order {number} was paid: {money}'),
  t('Order {number} was shipped, with the tracking number {code}'),
  t('The stock of {product} went up by {change}, to {stock}'),
  t('The stock of {product} went down by {change}, to {stock}'),
  t('Return {return} of order {number} was agreed to'),
  t('The goods of return {return} came back, and are in stock again'),
]

/** Who signed what came to an inbox, or what is wrong with the signature (src/operations/sandbox/signature.ts). */
const signers = [
  t('Signed by the webhook {name} of {store}.'),
  t('Signed by callbacks of the application {name}.'),
  t('No webhook or application of yours sends to this address.'),
  t('It is by none of your secrets, or the body was changed.'),
  t('It is by the webhook {name} of {store}, but more than five minutes old or early.'),
  t('It is by callbacks of the application {name}, but more than five minutes old or early.'),
  t('webhook-id or webhook-timestamp is missing, or is none.'),
]

/** Says a change that was made. */
export function happened(words: string): Phrase {
  return asText(words, happenings)
}

/** Says by whose secret a message is signed. */
export function signedBy({ signature, signer }: { readonly signature: string; readonly signer: string }): Phrase {
  return asText(signature === 'verified' ? `Signed by ${signer}.` : `${signer}.`, signers)
}

/** Returns the text that the sentence is, with the values in it. A sentence that is none of them stays. */
function asText(sentence: string, texts: readonly Text[]): Phrase {
  for (const { key } of texts) {
    const values = patternOf(key).exec(sentence)
    if (values !== null) return t(key, Object.fromEntries(Object.entries(values.groups ?? {}).map(spokenValue)))
  }
  return sentence
}

function patternOf(key: string): RegExp {
  const escaped = key.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replace(/\{(\w+)\}/g, '(?<$1>.+)')}$`, 's')
}

/** Numbers are for programs, such as `1234.5 USD`. */
function spokenValue([name, written]: readonly [string, string]): readonly [string, TextValue] {
  const [number = '', currency = ''] = written.split(' ')
  if (name === 'money') return [name, ({ format }) => format.money(number, currency)]
  if (name === 'change' || name === 'stock') return [name, ({ format }) => format.number(number)]
  return [name, written]
}
