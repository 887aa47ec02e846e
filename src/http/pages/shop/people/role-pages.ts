import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Privileges } from '../../../../engine/caller.ts'
import type { DataServices } from '../../../../foundation/database/client.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { readInput } from '../../../../foundation/values/input.ts'
import { privilegeName } from '../../../../shop/staff/names.ts'
import { administrationPrivileges, privilegeNames, privilegesOf } from '../../../../shop/staff/roles.ts'
import { type Changing, deleteRole, ownRoleInput, roleById, saveRole } from '../../../../shop/staff/store-roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import { actorOf, type Form, formOf, merchantOf, textIn } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'

const home = '/admin/people/roles'

/** Who changes the store's people: the signed-in person. */
export function changingBy(request: FastifyRequest): Changing {
  return { actor: actorOf(request), userId: merchantOf(request).id }
}

/** Adds the pages of a store's own roles. */
export function rolePages(app: FastifyInstance, data: DataServices): void {
  const { page, form } = adminPages(app, ['People', 'write'])
  const save = async (request: FastifyRequest, id: number | null) => {
    const at = { storeId: merchantOf(request).store.id, id }
    await saveRole(data, at, readRole(formOf(request)), changingBy(request))
  }

  page(`${home}/new`, (request) => rolePage(request, null, {}))
  const add = async (request: FastifyRequest) => {
    await save(request, null)
    return '/admin/people?notice=role-added'
  }
  form(home, add, (request) => rolePage(request, null, formOf(request)))

  const stored = async (request: FastifyRequest) => {
    const { id } = readIds(request.params, 'id')
    const { role, ownPrivileges } = await roleById(data.db, merchantOf(request).store.id, id)
    return rolePage(request, id, { Name: role, ...chosenIn(ownPrivileges) })
  }
  page(`${home}/:id`, stored)
  const change = async (request: FastifyRequest) => {
    await save(request, readIds(request.params, 'id').id)
    return '/admin/people?notice=role-changed'
  }
  form(`${home}/:id`, change, (request) => rolePage(request, readIds(request.params, 'id').id, formOf(request)))

  const remove = async (request: FastifyRequest) => {
    const { id } = readIds(request.params, 'id')
    await deleteRole(data, { storeId: merchantOf(request).store.id, id }, changingBy(request))
    return '/admin/people?notice=role-deleted'
  }
  form(`${home}/:id/delete`, remove, stored)
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
function rolePage(request: FastifyRequest, id: number | null, values: Form): HtmlPage {
  const own = privilegesOf(merchantOf(request))
  const rows = privilegeNames.map((name) => {
    const words = (administrationPrivileges as Readonly<Record<string, Text>>)[name]
    const grantable = own === null ? ['read', 'write'] : (own[name] ?? [])
    return {
      name,
      field: fieldOf(name),
      label: privilegeName(name),
      words: words ?? null,
      grantable,
    }
  })
  return {
    template: '/pages/shop/people/role',
    title: id === null ? t('New role') : t('Role'),
    values,
    data: { id, rows, action: id === null ? home : `${home}/${id}` },
  }
}
