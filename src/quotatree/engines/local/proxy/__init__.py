"""What keeps the address of a service while its replicas come and go? A process of its own beside the supervisor.

Supervisors outlive an upgrade of the server. One that was started by an older version starts its proxy anew by the
name `main` of this package, so that name stays.
"""


def main() -> None:
    """Run the proxy until its supervisor closes the orders."""
    from quotatree.engines.local.proxy import process

    process.main()
