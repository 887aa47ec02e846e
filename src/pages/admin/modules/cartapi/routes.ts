import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Page } from '../../../../html/page.ts'
import { pagesFor } from '../../../../html/page-routes.ts'
import { actorOf, formOf, merchantOf } from '../../../../html/request.ts'
import { type ChangeStore, changedStore, rotateUserKey, storeWithKey, updateStore } from '../../../../stores/stores.ts'
import { readInput } from '../../../../values/input.ts'
import { inForm, settingsIn, typedIn } from './settings-form.ts'

export interface CartApiServices extends ChangeStore {
  readonly config: { readonly publicUrl: string; readonly soapPath: string; readonly soapNamespaces: readonly string[] }
}

/** Adds the page with the credentials and access settings for legacy programs. */
export function cartApiPages(app: FastifyInstance, services: CartApiServices): void {
  const { post, page, form } = pagesFor(app, 'merchant')
  page('/admin/modules/cartapi', (request) => cartApiPage(request, services))

  const save = async (request: FastifyRequest) => {
    const sent = formOf(request)
    try {
      const changes = readInput(changedStore, { CartAPI: settingsIn(sent) })
      await updateStore(services, merchantOf(request).store.id, changes, actorOf(request))
    } catch (error) {
      throw inForm(error, sent)
    }
    return '/admin/modules/cartapi?notice=settings-saved'
  }
  form('/admin/modules/cartapi', save, async (request) => {
    return { ...(await cartApiPage(request, services)), values: typedIn(formOf(request)) }
  })

  post('/admin/modules/cartapi/user-key', async (request, reply) => {
    await rotateUserKey(services, merchantOf(request).store.id, actorOf(request))
    return reply.redirect('/admin/modules/cartapi?notice=user-key-rotated', 303)
  })
}

async function cartApiPage(request: FastifyRequest, services: CartApiServices): Promise<Page> {
  const { publicUrl, soapPath, soapNamespaces } = services.config
  const { userKey, secureUrl, cartApi } = await storeWithKey(services, merchantOf(request).store.id)
  return {
    template: '/pages/admin/modules/cartapi/cartapi',
    title: 'cartAPI',
    values: { Enabled: String(cartApi.enabled), Addresses: cartApi.addresses.join('\n') },
    data: { userKey, secureUrl, isEnabled: cartApi.enabled, address: publicUrl + soapPath, namespaces: soapNamespaces },
  }
}
