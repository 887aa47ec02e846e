import type { Operation } from '../operation.ts'
import * as customers from './customers.ts'
import * as orders from './orders.ts'
import * as products from './products.ts'

/** The operations by name: what these files export. The WSDL declares their parameters. */
export const operations: Readonly<Record<string, Operation>> = { ...customers, ...orders, ...products }
