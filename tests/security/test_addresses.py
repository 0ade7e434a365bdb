"""Addresses that are not those of public servers are not called, however they are written."""

from __future__ import annotations

import ipaddress

from ringbolt.system.http_client import is_public

# Every block of IANA's registries of special-purpose addresses that is not for the public, and multicast.
IPV4 = """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24
192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.88.99.2/32 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
""".split()
IPV6 = """
::1/128 ::/128 ::ffff:0:0/104 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128
2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28
2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8 ::/96
""".split()


def samples(network):
    block = ipaddress.ip_network(network)
    return {block[0], block[-1], block[block.num_addresses // 2], block[block.num_addresses // 3]}


def test_special_blocks_are_not_public():
    for network in (*IPV4, *IPV6):
        for address in samples(network):
            assert not is_public(str(address)), address


def test_the_neighbours_of_special_blocks_are_public():
    """A positive control: the blocks end where they end."""
    for address in """
        1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
        169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255
        192.169.0.0 198.17.255.255 198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 8.8.8.8
        2000::1 2001:200::1 2001:db7:ffff::1 2001:db9::1 2003::1 2606:4700::1111 3ffe:ffff::1 3fff:1000::1
        2a00:1450:4001::1
    """.split():
        assert is_public(address), address


def test_an_address_that_wraps_another_is_judged_by_it():
    for inner in (block for network in IPV4 for block in samples(network)):
        number = int(inner)
        for outer in (
            ipaddress.IPv6Address((0xFFFF << 32) | number),  # mapped
            ipaddress.IPv6Address(number),  # compatible
            ipaddress.IPv6Address((0x64FF9B << 96) | number),  # NAT64
            ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),  # 6to4
            ipaddress.IPv6Address((0x20010000 << 96) | (number ^ 0xFFFFFFFF)),  # Teredo
            ipaddress.IPv6Address((0x26064700 << 96) | (0x5EFE << 32) | number),  # ISATAP
            ipaddress.IPv6Address((0x26064700 << 96) | (0x0200_5EFE << 32) | number),
        ):
            assert not is_public(str(outer)), (inner, outer)
    assert is_public("::ffff:8.8.8.8")
    assert is_public("64:ff9b::8.8.8.8")


def test_a_zone_changes_nothing():
    assert not is_public("fe80::1%eth0")
    assert is_public("2606:4700::1111%1")
