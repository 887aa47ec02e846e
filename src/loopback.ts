import { inBlocks } from './address-blocks.ts'

/** Whether an IP address, mapped IPv4 (`::ffff:127.0.0.1`) included, is this machine's own. Anything else is not. */
export const isLoopback = inBlocks(['127.0.0.0/8', '::1'])
