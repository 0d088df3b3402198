package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The queue is a folder with a file per event; an empty file is done. With several servers use a table of
// your database, with the id as its primary key.
const queue = "events"

var wake = make(chan struct{}, 1)

// open tries each secret: during a rotation there are two, separated by a space.
func open(signature, body string) (string, error) {
	err := errors.New("ASSAY_WEBHOOK_SECRETS is empty")
	for _, secret := range strings.Fields(os.Getenv("ASSAY_WEBHOOK_SECRETS")) {
		var text string
		if text, err = openWebhook(signature, body, secret, []byte(os.Getenv("ASSAY_PRIVATE_KEY"))); err == nil {
			return text, nil
		}
	}
	return "", err
}

// store keeps an event unless it is known. A link comes into being whole, and only if its name is free.
func store(id, text string) error {
	file, err := os.CreateTemp(queue, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, written := file.WriteString(text)
	if err := errors.Join(written, file.Sync(), file.Close()); err != nil {
		return err
	}
	err = os.Link(file.Name(), filepath.Join(queue, filepath.Base(id)))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

type event struct {
	ID       string
	Type     string
	Metadata struct {
		ClientReferenceID string `json:"client_reference_id"`
	}
	Data struct{ Claims map[string]any }
}

// handle is your work. An event can be handled twice, if the server stops in the middle of it.
func handle(e event) error {
	if e.Type == "verification.session.succeeded" {
		// e.Data.Claims has what the person shared.
	}
	_, err := os.Stdout.WriteString("handled " + e.ID + " " + e.Type + " " + e.Metadata.ClientReferenceID + "\n")
	return err
}

func handleFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil || len(text) == 0 {
		return err
	}
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	if err := handle(e); err != nil {
		return err
	}
	// The name stays, so that an event that comes again is known. The claims go.
	return os.Truncate(name, 0)
}

func work() {
	for {
		names, _ := filepath.Glob(filepath.Join(queue, "evt_*"))
		for _, name := range names {
			if err := handleFile(name); err != nil {
				log.Printf("%s waits for the next time: %v", name, err)
			}
		}
		select {
		case <-wake:
		case <-time.After(10 * time.Second):
		}
	}
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, err := open(r.Header.Get("X-Service-Signature"), string(body))
	var e event
	if err == nil {
		err = json.Unmarshal([]byte(text), &e)
	}
	if err != nil {
		log.Print(err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := store(e.ID, text); err != nil {
		log.Print(err)
		// The delivery is sent again.
		http.Error(w, "not stored", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	select {
	case wake <- struct{}{}:
	default:
	}
}

func main() {
	if err := os.MkdirAll(queue, 0o700); err != nil {
		log.Fatal(err)
	}
	go work()
	http.HandleFunc("POST /webhooks/assay", receive)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "4000"), nil))
}
