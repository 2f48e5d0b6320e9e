package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/google/uuid"

	"dateline/client"
)

// A post is scheduled once, however often the request is repeated.
func ExampleNew() {
	c, err := client.New("https://dateline.example.com", "dl_…")
	if err != nil {
		log.Fatal(err)
	}
	key, at := uuid.NewString(), "2026-12-24T07:00"
	created, err := client.Result(c.CreatePostWithResponse(context.Background(), &client.CreatePostParams{IdempotencyKey: &key},
		client.NewPost{Content: "Good morning", ScheduledTime: &at}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(created.GetJSON201().Id)
}
