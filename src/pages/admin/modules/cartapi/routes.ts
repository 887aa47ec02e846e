import type { FastifyInstance, FastifyRequest } from 'fastify'
import { formOf, orShowAgain } from '../../../../html/forms.ts'
import { type Page, sendPage } from '../../../../html/page.ts'
import { actorOf, merchantOf } from '../../../../html/principals.ts'
import { routesFor } from '../../../../server/roles.ts'
import { type ChangeStore, changedStore, rotateUserKey, storeWithKey, updateStore } from '../../../../stores/stores.ts'
import { readInput } from '../../../../values/input.ts'
import { inForm, settingsIn, typedIn } from './settings-form.ts'

export interface CartApiServices extends ChangeStore {
  readonly config: { readonly publicUrl: string; readonly soapPath: string; readonly soapNamespaces: readonly string[] }
}

/** What a legacy program needs to enter the store, and which of them may. */
export async function cartApiRoutes(app: FastifyInstance, services: CartApiServices): Promise<void> {
  const { get, post } = routesFor(app, 'merchant')
  get('/admin/modules/cartapi', async (request, reply) => sendPage(reply, await cartApiPage(request, services)))

  post('/admin/modules/cartapi', async (request, reply) => {
    const form = formOf(request)
    const settings = settingsIn(form)
    return orShowAgain(
      reply,
      async () => {
        const { store } = merchantOf(request)
        try {
          const changes = readInput(changedStore, { CartAPI: settings })
          await updateStore(services, store.id, changes, actorOf(request))
        } catch (error) {
          throw inForm(error, form)
        }
        return reply.redirect('/admin/modules/cartapi?notice=settings-saved', 303)
      },
      async () => ({ ...(await cartApiPage(request, services)), values: typedIn(form) }),
    )
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
