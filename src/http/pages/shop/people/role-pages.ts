import type { FastifyInstance, FastifyRequest } from 'fastify'
import { accessesOf } from '../../../../access/applications/privileges.ts'
import type { Privileges } from '../../../../engine/caller.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import { privilegeName } from '../../../../shop/staff/names.ts'
import { privilegeNames, privilegeWords } from '../../../../shop/staff/roles.ts'
import { type Changing, deleteRole, ownRoleInput, roleById, saveRole } from '../../../../shop/staff/store-roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, type Form, merchantOf, textIn } from '../../../html/request.ts'
import { idIn, type PageRequest, storePages } from '../../frame/pages.ts'

const home = '/admin/people/roles'

/** Who changes the store's people: the signed-in person. */
export function changingBy(request: FastifyRequest): Changing {
  return { actor: actorOf(request), userId: merchantOf(request).id }
}

/** Adds the pages of a store's own roles. */
export function rolePages(app: FastifyInstance, services: CallerServices): void {
  const { page, form, pair } = storePages(adminPages(app, ['People', 'write']), services)
  page(`${home}/new`, newPage)
  form(home, newPage, async ({ caller, typed }, { request }) => {
    await saveRole(caller, { storeId: caller.store.id, id: null }, readRole(typed), changingBy(request))
    return '/admin/people?notice=role-added'
  })
  const onePage = (asked: PageRequest) =>
    asked.typed === null ? storedPage(asked) : rolePage(asked, idIn(asked), asked.typed)
  pair(`${home}/:id`, onePage, async ({ caller, params, typed }, { request }) => {
    await saveRole(caller, { storeId: caller.store.id, id: idIn({ params }) }, readRole(typed), changingBy(request))
    return '/admin/people?notice=role-changed'
  })
  form(`${home}/:id/delete`, storedPage, async ({ caller, params }, { request }) => {
    await deleteRole(caller, { storeId: caller.store.id, id: idIn({ params }) }, changingBy(request))
    return '/admin/people?notice=role-deleted'
  })
}

const newPage = (asked: PageRequest) => rolePage(asked, null, asked.typed ?? {})

async function storedPage(asked: PageRequest): Promise<HtmlPage> {
  const { db, store } = asked.caller
  const id = idIn(asked)
  const { role, ownPrivileges } = await roleById(db, store.id, id)
  return rolePage(asked, id, { Name: role, ...chosenIn(ownPrivileges) })
}

/** What a form's choice grants. */
const choices = { none: [], read: ['read'], write: ['read', 'write'] } as const

const fieldOf = (privilege: string) => `Privileges.${privilege}`

function readRole(form: Form) {
  const entries = privilegeNames.map((name) => {
    const choice = textIn(form, fieldOf(name)) || 'none'
    return [name, choices[choice as keyof typeof choices] ?? [choice]] as const
  })
  try {
    return readInput(ownRoleInput, { Name: textIn(form, 'Name'), Privileges: Object.fromEntries(entries) })
  } catch (error) {
    return inFormFields((field) => field.replace(/\.\d+$/, ''))(error)
  }
}

function chosenIn(privileges: Privileges): Form {
  return Object.fromEntries(
    privilegeNames.map((name) => {
      const given = privileges?.[name] ?? []
      return [fieldOf(name), given.includes('write') ? 'write' : given.includes('read') ? 'read' : 'none']
    }),
  )
}

/** The form of a role; `id` null: a new one. What the person may not grant cannot be chosen. */
function rolePage({ caller: { privileges: own } }: PageRequest, id: number | null, values: Form): HtmlPage {
  const rows = privilegeNames.map((name) => {
    const words = (privilegeWords as Readonly<Record<string, Text>>)[name]
    const grantable = own === null ? accessesOf(name) : (own[name] ?? [])
    return { name, field: fieldOf(name), label: privilegeName(name), words: words ?? null, grantable }
  })
  const data = { id, rows, action: id === null ? home : `${home}/${id}` }
  return { template: '/pages/shop/people/role', title: id === null ? t('New role') : t('Role'), values, data }
}
