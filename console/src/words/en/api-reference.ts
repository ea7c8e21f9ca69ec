import { inLanguage } from '../in-language.ts'

export const apiReference = inLanguage('apiReference', {
  title: 'API reference',
  apis: { gateway: 'Gateway', control: 'Control' },
  operations: 'Operations',
  search: 'Search operations',
  parameters: 'Parameters',
  body: 'Body',
  answer: (status: string) => `Response ${status}`,
  required: 'required',
  in: { path: 'in the path', query: 'in the query', header: 'header' },
  permissions: { anyone: 'no session needed', 'signed-in': 'any signed-in user' } as Readonly<
    Record<string, string>
  >,
  tryIt: 'Try it',
  notSet: 'not set',
  send: 'Send',
  changes: 'This call changes the installation. Send it with my account.',
  tickFirst: 'Confirm first that this call may change the installation.',
  costs: 'Billed to the project, like any request.',
  onlyCurl: 'The console can’t send this call. Use the command below with a key.',
  notHere: 'The response is a stream or a file. Use the command below with a token.',
  forbidden: (permission: string) => `Requires the permission ${permission}.`,
  cut: 'The response is cut off here; use the command for all of it.',
})
