import { z } from 'zod'
import { storeById } from '../../access/stores/caller-store.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { type FetchServices, fetchForPath } from '../../shop/pictures/fetches.ts'
import { operatorRoute } from '../html/route-groups.ts'
import { jsonBody, many, record } from '../server/json/json-routes.ts'

const fetched = record<string>('FetchedPicture')({
  Reason: [z.string().describe('Why it could not be fetched. Empty: it is stored.'), (reason) => reason],
})

const wanted = namedObject({
  // Four bytes each are what an index can hold.
  Path: text(500).describe('What the records of the store call the picture.'),
  Address: text(5_000).describe('The http or https address from which it is fetched.'),
})

export const pictureRoutes = [
  operatorRoute('POST /admin/stores/:id/pictures', {
    roles: ['operator-key'],
    id: 'fetchPicture',
    summary: 'Fetch a picture of a former shop',
    description:
      'Fetches and stores a picture, unless there is one for `Path` already. Records keep their texts, and pages show the stored picture wherever one says `Path`.',
    ids: { id: 'The store.' },
    body: jsonBody(wanted, { Path: 'images/lamp.jpg', Address: 'https://shop.example/images/lamp.jpg' }),
    answers: { 200: many('What became of it.', fetched) },
    run: async ({ ids, body }, services: Omit<FetchServices, 'log' | 'resourceNamed'>) => {
      const { Path: path, Address: address } = body()
      await storeById(services.db, ids.id)
      return [await fetchForPath(services, ids.id, { path, address })]
    },
  }),
]
