import { type Text, t } from '../../../../foundation/texts/text.ts'
import { columnsTo } from '../../../../shop/erasure/personal.ts'

/** What an erasure empties or deletes, by the kinds that it counts. */
const words: Readonly<Record<string, (count: number) => Text>> = {
  Customers: (count) => t('{count, plural, one {the customer’s account} other {# customers’ accounts}}', { count }),
  Orders: (count) => t('{count, plural, one {# order} other {# orders}}', { count }),
  RMA: (count) => t('{count, plural, one {# return} other {# returns}}', { count }),
  GiftRegistries: (count) => t('{count, plural, one {# gift registry} other {# gift registries}}', { count }),
  CustomerNote: (count) => t('{count, plural, one {# note of the shop} other {# notes of the shop}}', { count }),
  Mails: (count) => t('{count, plural, one {# mail} other {# mails}}', { count }),
  Session: (count) => t('{count, plural, one {# sign-in} other {# sign-ins}}', { count }),
  CustomerLoginToken: (count) => t('{count, plural, one {# sign-in link} other {# sign-in links}}', { count }),
  History: (count) => t('{count, plural, one {# entry of the history} other {# entries of the history}}', { count }),
  Events: (count) =>
    t('{count, plural, one {# notification of a program} other {# notifications of programs}}', { count }),
  Deliveries: (count) => t('{count, plural, one {# answer of a program} other {# answers of programs}}', { count }),
  CsvLines: (count) => t('{count, plural, one {# line of a CSV file} other {# lines of CSV files}}', { count }),
  Pictures: (count) => t('{count, plural, one {# picture} other {# pictures}}', { count }),
  Texts: (count) => t('{count, plural, one {# other text} other {# other texts}}', { count }),
}
for (const table of columnsTo('goes').keys()) if (!(table in words)) throw new Error(`${table} has no words`)

/** What was emptied or deleted of a person, in words. */
export function countsInWords(counts: Readonly<Record<string, number>>): Text[] {
  return Object.entries(words).flatMap(([kind, said]) => {
    const count = counts[kind] ?? 0
    return count > 0 ? [said(count)] : []
  })
}
