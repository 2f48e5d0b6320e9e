import os
import openapi_client as dateline

config = dateline.Configuration(host=os.environ["DATELINE"], access_token=os.environ["TOKEN"])
with dateline.ApiClient(config) as client:
    post = dateline.PostsApi(client).create_post(dateline.PostCreate(
        content=os.environ["CONTENT"], scheduled_time=os.environ["AT"], accounts=[os.environ["ACCOUNT"]]))
    print(dateline.PostsApi(client).get_post(post.id).id)
