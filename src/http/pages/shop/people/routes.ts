import type { FastifyInstance, FastifyReply } from 'fastify'
import { mailsAre } from '../../../../access/mail/write.ts'
import { readPeople } from '../../../../access/people/names.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { namedObject, readInput, text } from '../../../../foundation/values/input.ts'
import {
  type InvitationServices,
  listInvitations,
  OPERATOR,
  withdrawInvitation,
} from '../../../../shop/staff/invitations.ts'
import { changeRole, isLastOwner, listMembers, memberById, removeMember } from '../../../../shop/staff/members.ts'
import { builtInRoles } from '../../../../shop/staff/roles.ts'
import { listRoles, mayGrant } from '../../../../shop/staff/store-roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { type Form, merchantOf } from '../../../html/request.ts'
import { idIn, type PageRequest, storePages } from '../../frame/pages.ts'
import { inviteByForm } from '../../people/hand-over.ts'
import { changingBy, rolePages } from './role-pages.ts'

const home = '/admin/people'
const MEMBERS_MAX = 500

const roleOnly = namedObject({ Role: text(50) })

/** Adds the pages of a store's people: who belongs to it and as what, invitations, roles. */
export function peoplePages(app: FastifyInstance, services: InvitationServices): void {
  const show = (asked: PageRequest, { request }: FastifyReply) => peoplePage(services, asked, merchantOf(request).id)
  storePages(adminPages(app, ['People', 'read']), services).page(home, show)
  const { form, pair } = storePages(adminPages(app, ['People', 'write']), services)
  form(`${home}/:id`, show, async ({ caller, params, typed }, { request }) => {
    const userId = idIn({ params })
    const { Role } = readInput(roleOnly, typed)
    await changeRole(caller, { storeId: caller.store.id, userId }, Role, changingBy(request))
    return `${home}?notice=role-changed`
  })
  pair(`${home}/:id/remove`, removePage, async ({ caller, params }, { request }) => {
    await removeMember(caller, { storeId: caller.store.id, userId: idIn({ params }) }, changingBy(request))
    return `${home}?notice=person-removed`
  })
  const asTyped = (asked: PageRequest, { request }: FastifyReply) =>
    peoplePage(services, asked, merchantOf(request).id, asked.typed ?? {})
  form(`${home}/invitations`, asTyped, ({ caller }, reply) => {
    const at = { storeId: caller.store.id, by: changingBy(reply.request), back: home }
    return inviteByForm(services, [reply.request, reply], at)
  })
  form(`${home}/invitations/:id/withdraw`, show, async ({ caller, params }, { request }) => {
    await withdrawInvitation(caller, { storeId: caller.store.id, id: idIn({ params }) }, changingBy(request))
    return `${home}?notice=invitation-withdrawn`
  })
  rolePages(app, services)
}

/** The store's people, its open invitations and its own roles. `values`: a refused invitation. */
async function peoplePage(
  services: InvitationServices,
  { caller }: PageRequest,
  ownId: number,
  values: Form = {},
): Promise<HtmlPage> {
  const { store, privileges } = caller
  const members = await listMembers(services, { storeId: store.id, limit: MEMBERS_MAX + 1, offset: 0 })
  const [own, personOf] = await Promise.all([listRoles(services.db, store.id), readPeople(caller)])
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
        called: personOf(member.email),
        isSelf: member.id === ownId,
        mayChange: mayGrant(privileges, member),
      })),
      invitations: await listInvitations(services, store.id),
      roles: grantable,
      ownRoles: own,
      operator: OPERATOR,
      mails: mailsAre(services.config),
    },
  }
}

async function removePage(asked: PageRequest, { request }: FastifyReply): Promise<HtmlPage> {
  const { db, store } = asked.caller
  const id = idIn(asked)
  const member = await memberById(db, store.id, id)
  const data = { member, isSelf: id === merchantOf(request).id, isLastOwner: await isLastOwner(db, store.id, member) }
  return { template: '/pages/shop/people/remove', title: t('Remove {email}?', { email: member.email }), data }
}
