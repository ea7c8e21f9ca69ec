/** Providers: what every part of the console has at hand. */
import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { isForeignProject, mayPass } from '../api/faults.ts'
import { Toasts } from '../ui/toast.tsx'
import { noteError, noteSuccess } from './outages.ts'
import { router } from './routes.tsx'
import { sessionQuery } from './session.ts'

/** A report is asked for again when somebody comes back to it after so long. */
const STALE_MS = 60_000
const RETRIES = 2

const queries = new QueryClient({
  queryCache: new QueryCache({
    // Whoever is signed out at the start is led to the sign-in, not asked to sign in again.
    onError: (error, query) => {
      if (query.queryKey[0] === 'session') return
      noteError(error)
      // Who may see which project changed since the session was read.
      if (isForeignProject(error)) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey })
    },
    onSuccess: noteSuccess,
  }),
  mutationCache: new MutationCache({ onError: noteError, onSuccess: noteSuccess }),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (times, error) => times < RETRIES && mayPass(error),
      refetchOnWindowFocus: true,
    },
  },
})

export function App() {
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Tooltip.Provider delay={400}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </Tooltip.Provider>
      </QueryClientProvider>
    </CSPProvider>
  )
}
