// Command kubelet is the real kubelet, for the one test that runs containers. It is built only where root and
// containerd are to be had.
package main

import (
	"context"
	"io"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if os.Getenv("QUOTATREE_STOP_AT_EOF") != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(1)
		}()
	}
	os.Exit(cli.Run(app.NewKubeletCommand(context.Background())))
}
