import { clientFolder, generateClient } from './client-generator.ts'

// `npm run generate` writes src/database/generated anew out of schema.prisma. It is committed with the schema.
await generateClient(clientFolder)
