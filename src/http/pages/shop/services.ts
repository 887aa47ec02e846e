import { type Service, services } from '../records/services.ts'
import { categoryService } from './categories/routes.ts'
import { customerService } from './customers/special.ts'
import { orderService, returnService } from './orders/special.ts'
import { manufacturerService } from './products/products-of.ts'
import { productService } from './products/special.ts'

const special = [orderService, returnService, productService, customerService, categoryService, manufacturerService]

/** Every service with records of a store, with what the pages of some have beyond their definitions. */
export const shopServices: readonly Service[] = services.map(
  (service) => special.find(({ resource }) => resource === service.resource) ?? service,
)
