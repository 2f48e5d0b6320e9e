import { useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'

/** Scrolls to the element that the address names, once it is shown. */
export function useHash(isShown: boolean): void {
  const { hash } = useLocation()
  useEffect(() => {
    if (isShown && hash) document.getElementById(hash)?.scrollIntoView({ block: 'center' })
  }, [hash, isShown])
}
