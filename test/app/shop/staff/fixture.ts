import { listMembers } from '../../../../src/shop/staff/members.ts'
import { type TestPerson, testPerson } from '../../../support/person.ts'
import type { TestServer, TestStore } from '../../../support/store.ts'

export const password = 'a password of my own'

let serial = 0

/** An e-mail address that nobody has yet. */
export function freshEmail(): string {
  return `person-${++serial}@people.example`
}

export interface TestMember {
  readonly id: number
  readonly email: string
  /** Signed in to the store. */
  readonly person: TestPerson
}

/** Somebody of a store with a role, signed in there. */
export async function memberWith(
  server: TestServer,
  { store }: Pick<TestStore, 'store'>,
  role: string,
  email = freshEmail(),
): Promise<TestMember> {
  const { statusCode, body } = await server.operate('POST', `/admin/stores/${store.id}/users`, {
    Email: email,
    Password: password,
    Role: role,
  })
  if (statusCode !== 201) throw new Error(`${statusCode} ${body}`)
  return { id: JSON.parse(body).Id, email, person: await enter(server, email, { store: store.secureUrl }) }
}

/** Signs in; throws where that is refused. */
export async function enter(
  server: Pick<TestServer, 'app'>,
  email: string,
  { store = '', password: given = password, area = 'admin' } = {},
): Promise<TestPerson> {
  const person = testPerson(server.app)
  const { statusCode, body } = await tryToEnter(person, email, { store, given, area })
  if (statusCode !== 200) throw new Error(`${email} could not sign in: ${statusCode} ${body}`)
  return person
}

export function tryToEnter(person: TestPerson, email: string, { store = '', given = password, area = 'admin' } = {}) {
  const body = { Email: email, Password: given, ...(store && { Store: store }) }
  return person.call('POST', `/${area}/sign-in`, body)
}

/** Who belongs to a store, and as what: such as `['ann@shop.example owner']`. */
export async function peopleOf({ services }: TestServer, { store }: Pick<TestStore, 'store'>): Promise<string[]> {
  const members = await listMembers(services, { storeId: store.id, limit: 500, offset: 0 })
  return members.map(({ email, role }) => `${email} ${role}`)
}

/** The last mail to an address, as the sandbox keeps it; null: there is none. */
export async function mailTo({ services }: TestServer, email: string) {
  // A sign-in of the test itself is told by mail too.
  const where = { recipient: email, kind: { not: 'new-browser' } }
  const mail = await services.db.mail.findFirst({ where, orderBy: { id: 'desc' } })
  if (!mail) return null
  const text: string = mail.contentSealed === null ? '' : JSON.parse(services.secrets.open(mail.contentSealed)).text
  const link = /https?:\/\/\S+/.exec(text)?.[0]
  const { pathname, search } = new URL(link ?? services.config.publicUrl)
  return { kind: mail.kind, state: mail.state, storeId: mail.storeId, text, link: pathname + search }
}

/** The path of a link, for a page. */
export function pathOf(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}

export function tokenIn(link: string): string {
  return new URL(link, 'http://here.example').searchParams.get('token') ?? ''
}

/** A link that an owner hands over. */
export async function handedOver({ person }: TestMember, storeId: number, email: string, role: string) {
  const answer = await person.call('POST', `/admin/stores/${storeId}/invitations`, {
    Email: email,
    Role: role,
    HandOver: true,
  })
  if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${answer.body}`)
  const { Id, Link } = answer.json()
  return { id: Number(Id), link: pathOf(Link), token: tokenIn(Link) }
}
