import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'

/** Changes parameters of the present address: `useChangeSearch<SearchOf<typeof keys>>()`. Undefined takes one away. */
export function useChangeSearch<Search extends object = never>(): (
  change: Partial<Search>,
  options?: { readonly replace?: boolean },
) => void {
  const navigate = useNavigate()
  return useCallback(
    (change, { replace = false } = {}) =>
      void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }), replace }),
    [navigate],
  )
}
