import type { FastifyInstance } from 'fastify'
import type { Db } from '../../database/client.ts'
import { administration } from '../people/area.ts'
import { auditPages } from '../people/audit.ts'

/** The log for the operator (JSON) and for the merchants of a store (page and JSON). */
export async function auditRoutes(app: FastifyInstance, services: { db: Db }) {
  auditPages(app, services, administration)
}
