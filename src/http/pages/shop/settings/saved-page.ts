import type { FastifyInstance } from 'fastify'
import type { Actor } from '../../../../access/audit/audit.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import type { Privilege } from '../../../../shop/staff/roles.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, type Form } from '../../../html/request.ts'
import { type PageRequest, type Sent, storePages } from '../../frame/pages.ts'

/** Empty rows of a form for new records. */
export const NEW_ROWS = 3

interface SavedPage<Services> {
  /** What reading the page and saving need. */
  readonly privilege: Privilege
  readonly path: string
  pageOf(asked: PageRequest, services: Services): Promise<HtmlPage>
  save(asked: Sent<PageRequest>, actor: Actor, services: Services): Promise<unknown>
}

/** Adds a merchant's page and its form, which `save` saves. */
export function savedPage<Services extends CallerServices>(
  app: FastifyInstance,
  services: Services,
  { privilege, path, pageOf, save }: SavedPage<Services>,
): void {
  storePages(adminPages(app, [privilege, 'read']), services).page(path, (asked) => pageOf(asked, services))
  const { form } = storePages(adminPages(app, [privilege, 'write']), services)
  const again = async (asked: PageRequest) => {
    const page = await pageOf(asked, services)
    return asked.isOutdated ? page : { ...page, values: asked.typed ?? {} }
  }
  form(path, again, async (asked, { request }) => {
    await save(asked, actorOf(request), services)
    return `${path}?notice=settings-saved`
  })
}

/** Returns the keys of a form's rows, with which the names of their fields end. */
export function keysIn(form: Form, name: RegExp): string[] {
  return Object.keys(form).flatMap((field) => name.exec(field)?.[1] ?? [])
}

/**
 * Saves the rows of a form as a program sends them, without their keys. In the names of faulty fields, such as
 * `3.StatusText` for the fourth row, replaces the index with the row's key.
 */
export async function saveRows(rows: readonly { key: string }[], save: (sent: object[]) => Promise<unknown>) {
  try {
    await save(rows.map(({ key, ...record }) => record))
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    const inForm = (field: string) => field.replace(/^(\d+)\.(\w+)$/, (_, at, name) => `${name}.${rows[at]?.key}`)
    const faults = error.faults.map(({ field, problem }) => ({ field: inForm(field), problem }))
    throw new StoreFailure(error.code, error.message, { field: inForm(error.field), faults, status: error.status })
  }
}
