import type { FastifyInstance, FastifyRequest } from 'fastify'
import { mailsAre } from '../../../../access/mail/write.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { namedObject, readInput, text } from '../../../../foundation/values/input.ts'
import {
  type InvitationServices,
  listInvitations,
  OPERATOR,
  withdrawInvitation,
} from '../../../../shop/staff/invitations.ts'
import { changeRole, isLastOwner, listMembers, memberById, removeMember } from '../../../../shop/staff/members.ts'
import { builtInRoles, privilegesOf } from '../../../../shop/staff/roles.ts'
import { listRoles, mayGrant } from '../../../../shop/staff/store-roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type Form, formOf, merchantOf } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { inviteByForm } from '../../people/hand-over.ts'
import { changingBy, rolePages } from './role-pages.ts'

const home = '/admin/people'
const MEMBERS_MAX = 500

const roleOnly = namedObject({ Role: text(50) })

/** Adds the pages of a store's people: who belongs to it and as what, invitations, roles. */
export function peoplePages(app: FastifyInstance, services: InvitationServices): void {
  const { page } = adminPages(app, ['People', 'read'])
  const { page: changing, form } = adminPages(app, ['People', 'write'])
  const storeIdOf = (request: FastifyRequest) => merchantOf(request).store.id
  const again = (request: FastifyRequest) => peoplePage(services, request)

  page(home, again)

  const change = async (request: FastifyRequest) => {
    const { id: userId } = readIds(request.params, 'id')
    const { Role } = readInput(roleOnly, formOf(request))
    await changeRole(services, { storeId: storeIdOf(request), userId }, Role, changingBy(request))
    return `${home}?notice=role-changed`
  }
  form(`${home}/:id`, change, again)

  changing(`${home}/:id/remove`, (request) => removePage(services, request))
  const remove = async (request: FastifyRequest) => {
    const { id: userId } = readIds(request.params, 'id')
    await removeMember(services, { storeId: storeIdOf(request), userId }, changingBy(request))
    return `${home}?notice=person-removed`
  }
  form(`${home}/:id/remove`, remove, (request) => removePage(services, request))

  form(
    `${home}/invitations`,
    (request, reply) => {
      const at = { storeId: storeIdOf(request), by: changingBy(request), back: home }
      return inviteByForm(services, [request, reply], at)
    },
    (request) => peoplePage(services, request, formOf(request)),
  )

  const withdraw = async (request: FastifyRequest) => {
    const { id } = readIds(request.params, 'id')
    await withdrawInvitation(services, { storeId: storeIdOf(request), id }, changingBy(request))
    return `${home}?notice=invitation-withdrawn`
  }
  form(`${home}/invitations/:id/withdraw`, withdraw, again)

  rolePages(app, services)
}

/** The store's people, its open invitations and its own roles. `values`: a refused invitation. */
async function peoplePage(services: InvitationServices, request: FastifyRequest, values: Form = {}): Promise<HtmlPage> {
  const { store, id: ownId } = merchantOf(request)
  const privileges = privilegesOf(merchantOf(request))
  const members = await listMembers(services, { storeId: store.id, limit: MEMBERS_MAX + 1, offset: 0 })
  const own = await listRoles(services.db, store.id)
  const all = [
    ...Object.entries(builtInRoles).map(([role, { summary }]) => ({ role, summary, ownPrivileges: null })),
    ...own.map((role) => ({ ...role, summary: t('A role of this store') })),
  ]
  const grantable = all.filter((role) => mayGrant(privileges, role))
  return {
    template: '/pages/shop/people/people',
    title: t('People'),
    values: { Role: 'orders', ...values },
    data: {
      isCut: members.length > MEMBERS_MAX,
      members: members.slice(0, MEMBERS_MAX).map((member) => ({
        ...member,
        isSelf: member.id === ownId,
        mayChange: mayGrant(privileges, member),
      })),
      invitations: await listInvitations(services, store.id),
      roles: grantable,
      ownRoles: own,
      operator: OPERATOR,
      mails: mailsAre(services.config),
      now: services.now(),
    },
  }
}

async function removePage(services: InvitationServices, request: FastifyRequest): Promise<HtmlPage> {
  const { id } = readIds(request.params, 'id')
  const { store } = merchantOf(request)
  const member = await memberById(services, store.id, id)
  const data = {
    member,
    isSelf: id === merchantOf(request).id,
    isLastOwner: await isLastOwner(services.db, store.id, member),
  }
  return { template: '/pages/shop/people/remove', title: t('Remove {email}?', { email: member.email }), data }
}
