import { useInfiniteQuery } from '@tanstack/react-query'
import { api, type Media, unwrap } from '../api/client'

export const mediaKinds = ['all', 'image', 'animation', 'video', 'document'] as const
export type MediaChoice = 'all' | Media['kind']

/** The files of the library, newest first, filtered by words of their names and descriptions. */
export function useMediaList(kind: MediaChoice, q: string) {
  return useInfiniteQuery({
    queryKey: ['media-list', kind, q],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET('/api/v1/media', {
          params: {
            query: {
              limit: 60,
              ...(kind === 'all' ? {} : { kind }),
              ...(q ? { q } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  })
}
