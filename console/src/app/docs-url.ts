/** Where people read the documentation. Pages of error codes come from the gateway itself. */
export const DOCS_URL = 'https://github.com/torana/torana/blob/main/docs'
