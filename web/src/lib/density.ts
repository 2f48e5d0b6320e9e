import { useLocalStorage } from '@mantine/hooks'
import { useEffect } from 'react'

/** How much space rows and cards have. */
export const densities = ['comfortable', 'compact'] as const
export type Density = (typeof densities)[number]

const key = 'dateline-density'

/** The density of this browser; app.css has its spacing. */
export function useDensity() {
  const [density, setDensity] = useLocalStorage<Density>({
    key,
    defaultValue: 'comfortable',
    getInitialValueInEffect: false,
  })
  useEffect(() => {
    document.documentElement.dataset.density = density
  }, [density])
  return [density, setDensity] as const
}
