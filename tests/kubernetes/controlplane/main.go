// Command controlplane is a whole Kubernetes control plane in one program, for the tests: the first argument says
// which part it is. One program links once, where seven would link seven times.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	helmcmd "helm.sh/helm/v4/pkg/cmd"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

var parts = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllermanager.NewControllerManagerCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kubectl":                 runKubectl,
	"kwok":                    runKwok,
	"helm":                    runHelm,
}

func main() {
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		names := make([]string, 0, len(parts))
		for name := range parts {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Fprintf(os.Stderr, "usage: %s PART ARGUMENT...\nparts: %s\n", os.Args[0], strings.Join(names, ", "))
		os.Exit(2)
	}
	run := parts[os.Args[1]]
	os.Args = os.Args[1:]
	if os.Getenv("QUOTATREE_STOP_AT_EOF") != "" {
		go stopAtEndOfInput()
	}
	run()
}

// stopAtEndOfInput ends this process when whoever started it is gone: its end of the pipe closes however it dies, by
// kill -9 too, so a test that fails leaves no server behind.
func stopAtEndOfInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

func runKubectl() {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}

func runKwok() {
	// component-base has registered --version on the global set, and kwok registers its own.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, logger := kwoklog.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err != nil {
		logger.Error("kwok's flags", "err", err)
		os.Exit(1)
	}
	command := kwok.NewCommand(ctx)
	command.PersistentFlags().AddFlagSet(flags)
	if err := command.ExecuteContext(ctx); err != nil {
		logger.Error("kwok ended", "err", err)
		os.Exit(1)
	}
}

func runHelm() {
	command, err := helmcmd.NewRootCmd(os.Stdout, os.Args[1:], helmcmd.SetupLogging)
	if err == nil {
		err = command.Execute()
	}
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, err)
	if failure, ok := errors.AsType[helmcmd.CommandError](err); ok {
		os.Exit(failure.ExitCode)
	}
	os.Exit(1)
}
