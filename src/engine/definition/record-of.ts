import type { Fields, Members, ValueField } from './fields.ts'

/** The type of a record, as answers have it, by its definition: `RecordOf<typeof orders>`; of an item, by its list. */
export type RecordOf<Defined> = Defined extends Members<infer Inner> ? Shown<Inner> : never

type Shown<Inner extends Fields> = {
  readonly [Name in keyof Inner as Inner[Name] extends LeftOut | Optional ? never : Name]: Member<Inner[Name]>
} & {
  readonly [Name in keyof Inner as Inner[Name] extends Optional ? Name : never]?: Member<Inner[Name]>
}

type LeftOut = { readonly access: 'sent' | 'kept' }
type Optional = { readonly isOptional: true }

type Member<Field> = Field extends { readonly kind: 'list' } & Members<infer Inner>
  ? readonly Shown<Inner>[]
  : Field extends { readonly kind: 'object' } & Members<infer Inner>
    ? Shown<Inner>
    : Field extends ValueField
      ? Scalars[Field['kind']]
      : never

/** By the kinds of values. A reference that is not set is 0, a time `''`. */
interface Scalars {
  readonly text: string
  readonly date: string
  readonly integer: number
  readonly decimal: number
  readonly boolean: boolean
}
