import { Configuration, PostsApi } from './index'

const { DATELINE, TOKEN, CONTENT, AT, ACCOUNT } = (globalThis as any).process.env
const posts = new PostsApi(new Configuration({ basePath: DATELINE, accessToken: TOKEN }))
posts.createPost({ postCreate: { content: CONTENT, scheduledTime: AT, accounts: [ACCOUNT] } })
  .then((post) => posts.getPost({ id: post.id }))
  .then((post) => console.log(post.id))
